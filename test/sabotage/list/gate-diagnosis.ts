// Why a gate has ended badly: whose words are repeated, and of what.
import type { Sabotage } from '../sabotage.ts';

export const gateDiagnosis: readonly Sabotage[] = [
  {
    name: 'sealed-diagnosis-repeated',
    fault: 'messages of a container of a sealed target, and of its Events, are repeated',
    edits: [
      {
        file: 'hooks/gates/diagnosis.ts',
        find: "name: () => '', detail: () => '',",
        replace: "name: () => '', detail: openWords.detail,",
      },
    ],
    caughtBy: ['test/hooks/gates/diagnosis.test.ts', 'test/scenarios/gates/diagnosis-bounds.test.ts'],
  },
  {
    name: 'compared-value-told',
    fault: 'what a gate compares a sealed object with is told, and so what the object holds',
    edits: [
      { file: 'hooks/gates/words.ts', find: "return sealed ? 'to have the value", replace: "return false ? 'to have the value" },
    ],
    caughtBy: ['test/threats/gate-canary.test.ts'],
  },
];
