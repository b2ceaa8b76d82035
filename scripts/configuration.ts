// `npm run configuration`: writes docs/configuration.md from the settings themselves.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SETTINGS } from '../src/config.ts'
import { ROOT } from './run.ts'

/** docs/configuration.md as it must be. */
export function configurationPage(): string {
  const rows = Object.entries(SETTINGS).map(([name, setting]) => {
    const { defaultText } = setting as { defaultText?: string }
    return `| \`${name}\` | ${defaultText ?? `\`${setting.default}\``} | ${setting.description.replaceAll('|', '\\|')} |`
  })
  return `# Configuration

Settings come from the environment, and from one file: \`/etc/portreeve/portreeve.env\`, or without it \`.env\` in the folder where Portreeve is started. The environment wins. Commands have the same settings as the service ([operations.md](operations.md#commands)).
They are read and checked all at once at start: what is wrong is named, and nothing starts half-configured.

Each setting can also come from a file: \`NAME_FILE\` names it, such as
\`SECRET_KEY_FILE=/run/secrets/secret_key\` for a secret of Docker or Kubernetes, or a credential of systemd.
The file is read at start, without the line break at its end. \`NAME\` and \`NAME_FILE\` must not both be set.

This page is written by \`npm run configuration\` from \`src/config.ts\`.

| setting | default | what it does |
|---|---|---|
${rows.join('\n')}
`
}

if (import.meta.main) writeFileSync(join(ROOT, 'docs', 'configuration.md'), configurationPage())
