// Writes docs/templates.md: serves every published template by the real llama-server and says what was found. Takes half
// a minute and needs the network once, so it is no part of `npm run generate`.
import { writeFile } from 'node:fs/promises';
import { publishedTemplates } from '../test/support/templates/published.ts';
import { judge, type Judgement } from '../test/families/judge.ts';
import { pageOf, pagePath } from '../test/families/page.ts';

const templates = await publishedTemplates();
if ('missing' in templates) throw new Error(`no templates: ${templates.missing}`);
const judgements: Judgement[] = [];
for (const template of templates) judgements.push(await judge(template));
await writeFile(pagePath, await pageOf(judgements));
