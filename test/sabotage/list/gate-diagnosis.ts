// Why a gate has ended badly: whose words are repeated.
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
];
