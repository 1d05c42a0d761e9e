// Writes manifests/crds from the schema: node scripts/generate-crd.ts
import { writeFileSync } from 'node:fs';
import { customResourceDefinitionYaml } from './crd-yaml.ts';

const file = new URL('../manifests/crds/transactions.tx.janus.io.yaml', import.meta.url);
writeFileSync(file, customResourceDefinitionYaml());
