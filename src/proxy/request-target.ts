/** Request targets (RFC 9112, section 3.2) as text: never parsed and written back, because that would change them. */

const schemeAndAuthority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** The target as path and query; a proxy-style absolute target loses its scheme and host, as RFC 9112 asks. */
export function originForm(target: string): string {
  const rest = target.replace(schemeAndAuthority, '');
  if (rest.length === target.length) return target;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The path without the query. */
export function pathOf(target: string): string {
  const form = originForm(target);
  const query = form.indexOf('?');
  return query === -1 ? form : form.slice(0, query);
}
