// Reads src/ as the compiler parses it: what a file imports, what it says outside comments, how it starts. Never runs it.
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import ts from 'typescript';

/** The repository. */
export const root = join(import.meta.dirname, '../..');

export interface Import {
  /** A path below src/ for our own files, else the package's or module's name: `fastify`, `node:fs/promises`. */
  readonly target: string;
  readonly own: boolean;
  /** True if nothing of it is left after compiling. */
  readonly typeOnly: boolean;
}

export interface SourceFile {
  /** Below src/, with forward slashes. */
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  /** Identifiers and texts of the code, also of import paths; comments left out. */
  readonly words: readonly string[];
  /** The comment in front of everything but a `#!` line; '' if there is none. */
  readonly header: string;
}

/** Paths of all files with the ending below a folder of the repository, sorted, relative to that folder. */
export function filesBelow(folder: string, ending: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith(ending))
    .toSorted();
}

export function readSources(): readonly SourceFile[] {
  return filesBelow('src', '.ts').map((path) =>
    readSource(path, readFileSync(join(root, 'src', path), 'utf8')),
  );
}

/** @param path where the text would stand below src/: relative imports are resolved from there. */
export function readSource(path: string, text: string): SourceFile {
  const parsed = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const imports: Import[] = [];
  const words: string[] = [];
  const visit = (node: ts.Node): void => {
    const found = importOf(node);
    if (found !== undefined) imports.push(resolved(path, found));
    if (ts.isIdentifier(node) || ts.isLiteralExpression(node) || ts.isTemplateLiteralToken(node)) {
      words.push(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return { path, lines: text.trimEnd().split('\n').length, imports, words, header: headerOf(text) };
}

function importOf(node: ts.Node): { specifier: ts.Node | undefined; typeOnly: boolean } | undefined {
  if (ts.isImportDeclaration(node)) {
    return {
      specifier: node.moduleSpecifier,
      typeOnly: node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword,
    };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
    return { specifier: node.moduleSpecifier, typeOnly: node.isTypeOnly };
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return { specifier: node.arguments[0], typeOnly: false };
  }
  // `new URL('./worker.ts', import.meta.url)` starts a file of ours as surely as an import does.
  if (ts.isNewExpression(node) && node.expression.getText() === 'URL') {
    const [target, base] = node.arguments ?? [];
    const isModule = target !== undefined && ts.isStringLiteral(target) && target.text.endsWith('.ts');
    if (isModule && base?.getText() === 'import.meta.url') return { specifier: target, typeOnly: false };
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return { specifier: node.argument.literal, typeOnly: true };
  }
  return undefined;
}

/** @throws if the target is computed: then nobody can say which way it goes. */
function resolved(
  path: string,
  { specifier, typeOnly }: { specifier: ts.Node | undefined; typeOnly: boolean },
): Import {
  if (specifier === undefined || !ts.isStringLiteralLike(specifier)) {
    throw new Error(`src/${path} imports something computed; name the file in a literal`);
  }
  const { text } = specifier;
  if (!text.startsWith('.')) {
    return {
      target: isBuiltin(text) && !text.startsWith('node:') ? `node:${text}` : text,
      own: false,
      typeOnly,
    };
  }
  return { target: posix.join(posix.dirname(path), text), own: true, typeOnly };
}

function headerOf(text: string): string {
  const start = ts.getShebang(text)?.length ?? 0;
  const [first] = ts.getLeadingCommentRanges(text, start) ?? [];
  return first === undefined || text.slice(start, first.pos).trim() !== ''
    ? ''
    : text.slice(first.pos, first.end);
}
