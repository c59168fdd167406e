// House rules that a proxy cannot live without: floating and misused promises are errors, `.pipe(` loses aborts,
// only the command line may end the process or print.
import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

const houseBans = [
  {
    selector: "CallExpression[callee.property.name='pipe']",
    message: 'Use stream.pipeline: .pipe() leaves the source running after an abort (design, section 8).',
  },
  {
    selector: "MemberExpression[object.name='process'][property.name='exit']",
    message: 'Only src/cli.ts ends the process.',
  },
  { selector: 'TSAnyKeyword', message: 'No any: parse at the edge, type inside.' },
];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/', '.cache/'] },
  eslint.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['eslint.config.js'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-definitions': ['error', 'interface'],
      'max-lines': ['error', { max: 320, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...houseBans], 'no-console': 'error' },
  },
  { files: ['src/cli.ts'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*'],
    rules: {
      // node:test's describe/it return promises that the runner itself awaits.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['describe', 'it', 'test'], package: 'node:test' },
          ],
        },
      ],
      '@typescript-eslint/no-non-null-assertion': 'off',
      'max-lines': 'off',
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      globals: { process: 'readonly', console: 'readonly', URL: 'readonly', fetch: 'readonly' },
    },
  },
);
