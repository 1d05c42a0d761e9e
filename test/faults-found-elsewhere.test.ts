// Each of the faults in the table next to this is shown not to be here, or cannot arise.
import t from 'tap';
import { faultsFoundElsewhere, missingTests } from './faults-found-elsewhere.ts';

t.test('faults found elsewhere', async (t) => {
  t.same(
    faultsFoundElsewhere.map(({ fault }) => fault.split(':')[0]),
    Array.from({ length: 50 }, (_, index) => `J${index + 1}`),
    'all fifty, in their order',
  );
  for (const one of faultsFoundElsewhere) {
    const { fault, shown = [], cannotArise } = one;
    t.same(missingTests(one), [], `${fault}: the tests that show it are there`);
    t.equal(shown.length > 0, cannotArise === undefined, 'it is shown, or it cannot arise');
    if (cannotArise !== undefined) t.match(cannotArise, /^[A-Z].*\.$/, cannotArise);
  }
});
