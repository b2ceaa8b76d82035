// `npm run configuration`: writes docs/configuration.md from the settings themselves.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SETTINGS } from '../src/config.ts'
import { formattedMarkdown, generatedBy, table, withPageLinks } from './formatted.ts'
import { ROOT } from './run.ts'

/** The groups of the page; a setting belongs to the first one that matches its name. */
const GROUPS: readonly (readonly [title: string, names: RegExp])[] = [
  ['Backups', /^BACKUP_/],
  ['Database and storage', /^(?:DATA_DIR|DATABASE_URL|MIN_FREE_DISK_BYTES|MAX_DATABASE_BYTES)/],
  ['DNS and blocklists', /^(?:DNS|ASN_DB)/],
  ['Mail tests', /^(?:RSPAMD_URL|SPAMD_ADDRESS)$/],
  ['DMARC reports', /^(?:SMTP_LISTEN|SMTP_TLS|REPORT_DOMAIN|REPORTS_KEPT|REPORT_FILES)/],
  ['Email that is sent', /^(?:SMTP_URL|MAIL_FROM|ABUSE_)/],
  ['Single sign-on', /^OIDC_/],
  ['Providers of mailboxes', /^OAUTH_/],
  ['Accounts and keys', /^(?:SIGNUP|PASSWORD_|REQUIRE_2FA|DEFAULT_PLAN|SECRET_KEY)/],
  ['Log and metrics', /^(?:LOG_|METRICS_)/],
  ['Private networks', /_PRIVATE_TARGETS$/],
  ['Addresses and processes', /(?:)/],
]

/** docs/configuration.md as it must be. */
export function configurationPage(): Promise<string> {
  const byGroup = Map.groupBy(Object.keys(SETTINGS), (name) =>
    GROUPS.findIndex(([, names]) => names.test(name)),
  )
  // The general ones come first.
  const order = [GROUPS.length - 1, ...GROUPS.keys()].slice(0, GROUPS.length)
  const sections = order.map((index) => {
    const texts = (byGroup.get(index) ?? []).map(settingText)
    return `## ${GROUPS[index]?.[0]}\n\n${texts.join('\n\n')}`
  })
  return formattedMarkdown(`${generatedBy('configuration')}# Configuration

Settings come from the environment, and from one file: \`/etc/portreeve/portreeve.env\`, or without it \`.env\` in the folder where Portreeve is started. The environment wins. Commands have the same settings as the service ([operations.md](operations.md#commands)). They are all checked at start: what is wrong is named, and nothing starts half-configured.

Each setting can also come from a file: \`NAME_FILE\` names it, such as \`SECRET_KEY_FILE=/run/secrets/secret_key\` for a secret of Docker or Kubernetes, or a credential of systemd. The file is read at start, without the line break at its end. \`NAME\` and \`NAME_FILE\` must not both be set.

${sections.join('\n\n')}
`)
}

function settingText(name: string): string {
  const { description, value } = describeSetting(name)
  return `### ${name}\n\n${description}\n\nDefault: ${value}.`
}

/** The settings whose name matches, with default and description. */
export function settingsTable(names: RegExp): string {
  const rows = Object.keys(SETTINGS)
    .filter((name) => names.test(name))
    .map((name) => [name, describeSetting(name)] as const)
    .map(([name, { value, description }]) => [`\`${name}\``, value, description])
  return table(['setting', 'default', 'meaning'], rows)
}

function describeSetting(name: string): { description: string; value: string } {
  const setting = SETTINGS[name as keyof typeof SETTINGS] as {
    default: string
    defaultText?: string
    description: string
  }
  const value = setting.defaultText ?? `\`${setting.default}\``
  return { description: withPageLinks(setting.description), value }
}

if (import.meta.main)
  writeFileSync(join(ROOT, 'docs', 'configuration.md'), await configurationPage())
