// Variants of the reports: the same faults by other clients, in other families, languages and routes.
import { corpusCases, isVariant } from './case.ts';
import { testCases } from './test-cases.ts';

await testCases('variants of the corpus', corpusCases().filter(isVariant));
