/** Where conversations that nobody named are looked for: each search meets only those that begin alike. Pure. */
import type { RequestDigest, Turn } from '../exchange/session-match.ts';
import type { SessionQuery } from './store.ts';

/** Where the session is looked for: under the salt of each of its heads, and, if they have one, under any. */
export function bucketsOf({ model, client }: SessionQuery, heads: readonly Turn[]): readonly string[] {
  const buckets = heads.flatMap(({ salt, digest }) => {
    const query = { model, client, ...(salt !== undefined && { salt }), ...(digest && { digest }) };
    return salt === undefined ? [bucketOf(query)] : [bucketOf(query), anySaltBucketOf(query)];
  });
  return [...new Set(buckets)];
}

type Places = Pick<SessionQuery, 'model' | 'client' | 'salt' | 'digest'>;

/** Only conversations whose first user message is the same can have an ancestor in common. */
export function bucketOf({ model, client, salt, digest }: Places): string {
  return JSON.stringify([model, client, salt ?? '', firstQuestion(digest)]);
}

export function anySaltBucketOf({ model, client, digest }: Places): string {
  return JSON.stringify([model, client, firstQuestion(digest)]);
}

function firstQuestion(digest: RequestDigest | undefined): string {
  const first = digest?.messages[digest.roles.indexOf('user')]?.value;
  return first ?? (digest ? 'no user' : 'ids only');
}
