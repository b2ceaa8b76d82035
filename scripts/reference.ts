// `npm run reference`: writes the reference pages of the guide from the code: limits, error codes,
// alert kinds and commands, and parts of other pages.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_PARTS, MAX_ADDRESSES, MAILS_A_DAY } from '../src/exchange/abuse-mails/limits.ts'
import { ALERTS_BODY_LIMIT } from '../src/exchange/crowdsec/notification-route.ts'
import { MAX_ALERTS } from '../src/exchange/crowdsec/shapes.ts'
import { MAX_ITEMS_PER_DAY, MAX_PEERS } from '../src/exchange/federation/limits.ts'
import * as fleet from '../src/fleet/limits.ts'
import { MAX_ROWS } from '../src/abuse/intake/bulk.ts'
import { MAX_WAITING } from '../src/exchange/relays/limits.ts'
import { MAX_FINDINGS, MAX_NETWORKS, WIDEST } from '../src/public-feeds/watched-networks/limits.ts'
import { QUOTA_BYTES } from '../src/accounts/own-data/account-quotas.ts'
import { TOKENS_PER_WORKSPACE } from '../src/accounts/tokens/api-tokens.ts'
import * as workspaces from '../src/accounts/workspaces/limits.ts'
import { MAX_CHANNELS_PER_WORKSPACE, MAX_CODE_ATTEMPTS } from '../src/alerts/limits.ts'
import * as alertMails from '../src/alerts/limits.ts'
import * as rules from '../src/alerts/rules/limits.ts'
import * as silence from '../src/alerts/silence/limits.ts'
import { ROOT as COMMANDS } from '../src/cli/commands.ts'
import type { CliCommand } from '../src/cli/command.ts'
import { flagRows, synopses } from '../src/cli/help/help-text.ts'
import { PLANS } from '../src/config.ts'
import * as dmarc from '../src/dmarc/limits.ts'
import * as domains from '../src/domains/limits.ts'
import { MAX_IMPORT_ENTRIES } from '../src/http/shapes.ts'
import { MAX_LABELS } from '../src/http/labels.ts'
import { ACCOUNT_LIMITS, ADDRESS_LIMITS } from '../src/http/limits/request-limits.ts'
import type { RequestLimit } from '../src/http/limits/request-limits.ts'
import { MAX_CREDENTIALS } from '../src/mail-credentials/limits.ts'
import { BATCH_LIMITS, DEFAULT_HOST_LIMIT } from '../src/migration/batches/limits.ts'
import { CUTOVER_LIMITS } from '../src/migration/cutover/limits.ts'
import { SLOT_LIMITS, WAIT_TIMES } from '../src/migration/limits.ts'
import { OWNER_LINK_LIMITS } from '../src/migration/owner-links/limits.ts'
import { PROOF_LIMITS } from '../src/migration/proof/limits.ts'
import { MAX_MIGRATIONS_PER_MONTH } from '../src/migration/submit-migration.ts'
import { SYNC_LIMITS } from '../src/migration/sync/limits.ts'
import * as monitoring from '../src/monitoring/limits.ts'
import { REPORT_LIMITS } from '../src/protocols/reports/report-limits.ts'
import { DAY_MS, DAY_SECONDS, HOUR_SECONDS, MINUTE_MS, MINUTE_SECONDS } from '../src/time.ts'
import * as webhooks from '../src/webhooks/limits.ts'
import * as shown from '../web/src/api-reference/overview/limits.ts'
import { ERRORS } from '../web/src/api-reference/messages.ts'
import { ALERT_KINDS } from './alert-kinds.ts'
import { formattedMarkdown, generatedBy, table, withPageLinks, withParts } from './formatted.ts'
import { partText } from './reference-parts.ts'
import { ROOT } from './run.ts'

type Row = readonly string[]

/** The reference pages as they must be, by their path from the root of the repository. */
export async function referencePages(): Promise<Map<string, string>> {
  const pages = {
    'limits.md': limitsPage(),
    'error-codes.md': errorCodesPage(),
    'alert-kinds.md': alertKindsPage(),
    'commands.md': commandsPage(),
  }
  const formatted = Object.entries(pages).map(
    async ([name, text]) =>
      [join('docs', name), await formattedMarkdown(generatedBy('reference') + text)] as const,
  )
  return new Map([...(await Promise.all(formatted)), ...(await pagesWithParts())])
}

/** The pages that people write with the parts that this script writes. */
async function pagesWithParts(): Promise<[path: string, page: string][]> {
  const pages: [string, string][] = []
  for (const path of globSync('docs/*.md', { cwd: ROOT }).toSorted()) {
    const page = readFileSync(join(ROOT, path), 'utf8')
    if (page.includes('written by `npm run reference`'))
      pages.push([path, await formattedMarkdown(withParts(page, 'reference', partText))])
  }
  return pages
}

const count = (value: number) =>
  value === Infinity ? 'unlimited' : value.toLocaleString('en').replaceAll('\u00a0', ' ')
const days = (ms: number) => `${ms / DAY_MS} days`

function bytes(value: number): string {
  const [unit, size] =
    value >= 1024 ** 3 ? (['GiB', 1024 ** 3] as const) : (['MiB', 1024 ** 2] as const)
  return `${value < 1024 ** 2 ? value / 1024 : value / size} ${value < 1024 ** 2 ? 'KiB' : unit}`
}

/** Quotas of plans are decimal. */
function quota(value: number): string {
  return value >= 1e9 ? `${value / 1e9} GB` : `${value / 1e6} MB`
}

type Rate = { count: number; seconds: number }
const PERIODS: Record<number, string> = {
  [MINUTE_SECONDS]: 'a minute',
  [HOUR_SECONDS]: 'an hour',
  [DAY_SECONDS]: 'a day',
}
const rate = ({ count: requests, seconds }: Rate) => `${count(requests)} ${PERIODS[seconds]}`

function mails({ recipient, sender, installation }: typeof alertMails.CODE_MAIL_LIMITS): string {
  return [
    recipient && `${rate(recipient)} to one address`,
    sender && `${rate(sender)} from one account`,
    installation && `${rate(installation)} in all`,
  ]
    .filter(Boolean)
    .join(', ')
}

function limitsPage(): string {
  const section = (title: string, rows: readonly Row[], head: Row = ['what', 'limit']) =>
    `## ${title}\n\n${table(head, rows)}`
  return `# Limits

Every limit in one place. A request beyond a limit gets 429 with a message that names it, and \`Retry-After\`. Limits of an account count for the account that [answers for the workspace](workspaces.md#the-account-that-answers-for-a-workspace), over all its workspaces and all instances.

${section(
  'Requests of an account',
  requestRows(Object.values(ACCOUNT_LIMITS), shown.ACCOUNT_LIMITS),
  ['what', 'requests', 'at once', 'operations'],
)}

An instance handles up to 8 requests of one account at once, and 2 with bodies above 64 KiB; up to 200 more wait their turn. About 8 MiB of bodies a second are read. \`/healthz\` and \`/readyz\` wait for nothing. A database statement can take up to 30 seconds; a request that needs longer gets 503. An account export has up to 4 GiB compressed, must be ready within 5 minutes, and can be downloaded for an hour.

${section(
  'Requests of an address',
  requestRows(Object.values(ADDRESS_LIMITS), shown.ADDRESS_LIMITS),
  ['what', 'requests', 'at once', 'operations'],
)}

An IPv6 address counts as its /64. Addresses and requests at once are counted in each instance. Attack reports: 120 requests in five minutes from one address, and 1,200 from one IPv6 /48. \`REQUEST_LIMITS=off\` turns the limits of these two tables off.

${section(
  'Storage by plan',
  PLANS.map((plan) => [
    plan,
    quota(QUOTA_BYTES[plan].captures),
    quota(QUOTA_BYTES[plan].reportFiles),
    quota(QUOTA_BYTES[plan].sharedChecks),
    count(MAX_MIGRATIONS_PER_MONTH[plan]),
    count(workspaces.WORKSPACES_BY_PLAN[plan]),
  ]),
  [
    'plan',
    'captured requests',
    'report files',
    'shared checks',
    'migrations a month',
    'workspaces',
  ],
)}

\`GET /api/v1/account/usage\` shows the storage in use. Beyond it, the oldest captured requests are removed, uploads of reports get 429, and reports by email are evaluated without their files. Workspaces get an alert at 80%. When the service itself runs out of space (\`MIN_FREE_DISK_BYTES\`, \`MAX_DATABASE_BYTES\`), the oldest requests of the accounts that store most are removed first; the newest ${webhooks.MIN_REQUESTS_PER_ENDPOINT} of every endpoint are kept.

${section('Accounts and workspaces', [
  ['members of a workspace', count(workspaces.MAX_MEMBERS)],
  ['open invitations of a workspace', count(workspaces.MAX_OPEN_INVITATIONS)],
  ['time for an invitation', days(workspaces.INVITATION_LIFETIME_MS)],
  ['deleted workspaces of an account', count(workspaces.MAX_DELETED_WORKSPACES)],
  ['time to restore a workspace', days(workspaces.RESTORE_PERIOD_MS)],
  ['API tokens of a workspace', count(TOKENS_PER_WORKSPACE)],
  [
    'invitation emails',
    '5 a day to one address, 50 a day from one account, 100 an hour from one network, 500 an hour in all',
  ],
  ['sign-up emails', '3 a day to one address, 10 an hour from one network, 100 an hour in all'],
  ['password resets', '5 a day for one address, 10 an hour from one network, 100 an hour in all'],
  ['labels of an object', count(MAX_LABELS)],
])}

${section('Domains', [
  ['watched domains of a workspace', count(domains.MAX_WATCHED_DOMAINS)],
  ['entries of an import', count(MAX_IMPORT_ENTRIES)],
  ['mail servers whose TLS is checked', count(domains.MAX_PROBED_HOSTS)],
  ['addresses on blocklists', count(domains.MAX_BLOCKLIST_ADDRESSES)],
  ['changes kept of a domain', `${count(domains.MAX_DOMAIN_EVENTS)}, for 100 days`],
])}

${section('DMARC reports', [
  ['domains of a workspace', count(dmarc.MAX_DOMAINS)],
  ['report mailboxes of a workspace', count(dmarc.MAX_MAILBOXES)],
  ['mailboxes read at once', count(dmarc.MAX_CONCURRENT_MAILBOXES)],
  ['size of an email or file', bytes(dmarc.MAX_DELIVERY_BYTES)],
  [
    'files of an upload',
    `${count(dmarc.MAX_UPLOAD_FILES)}; an mbox ${count(dmarc.MAX_MBOX_MAILS)} emails`,
  ],
  ['unpacked size of a delivery', bytes(REPORT_LIMITS.inflated)],
  [
    'unpacked size of an upload',
    `${bytes(dmarc.UPLOAD_LIMITS.inflated)}, ${count(dmarc.UPLOAD_LIMITS.files)} files`,
  ],
  ['files in archives, nesting', `${count(REPORT_LIMITS.files)}, ${REPORT_LIMITS.depth} levels`],
  ['lines and header of an email', `${count(REPORT_LIMITS.lines)}, ${bytes(REPORT_LIMITS.header)}`],
  ['records of a report', count(REPORT_LIMITS.records)],
  [
    'an SMTP TLS report',
    `${bytes(REPORT_LIMITS.tlsReport)}, ${count(REPORT_LIMITS.tlsPolicies)} policies, ${count(REPORT_LIMITS.tlsFailures)} failures`,
  ],
  [
    'rejected items that are listed',
    `${dmarc.MAX_SAMPLES_PER_DELIVERY} of one email, ${dmarc.MAX_SAMPLES_PER_ADDRESS_DAY} of one address and ${count(dmarc.MAX_SAMPLES_PER_ACCOUNT_DAY)} of one account a day`,
  ],
  ['email from one network', '600 messages a minute over 20 connections'],
])}

${table(
  ['email per day (UTC)', 'one address', 'one account', 'the installation'],
  [
    ['messages', ...intake(({ mails: value }) => count(value))],
    ['bytes', ...intake(({ bytes: value }) => bytes(value))],
    ['bytes unpacked', ...intake(({ unpackedBytes: value }) => bytes(value))],
    ['records in reports', ...intake(({ records: value }) => count(value))],
  ],
)}

${section('Monitoring', [
  ['hosts of a workspace', count(monitoring.MAX_HOSTS_PER_WORKSPACE)],
  ['addresses of a name', count(monitoring.MAX_ADDRESSES_PER_NAME)],
  ['ports of a host', '8'],
  [
    'hosts checked at once',
    `${monitoring.PARALLEL_HOSTS}, of one account ${monitoring.PARALLEL_HOSTS_PER_ACCOUNT}`,
  ],
  ['queries to one blocklist', `${1_000 / monitoring.QUERY_SPACING_MS} a second`],
  ['history', `${monitoring.HISTORY_DAYS} days`],
])}

${section('Alerts', [
  ['channels of a workspace', count(MAX_CHANNELS_PER_WORKSPACE)],
  ['mutes of a workspace', count(silence.MAX_MUTES_PER_WORKSPACE)],
  [
    'duration of a snooze',
    `${silence.SNOOZE_MINUTES.least} minutes to ${silence.SNOOZE_MINUTES.most / 1_440} days`,
  ],
  [
    'duration of a mute',
    `${silence.MUTE_MINUTES.least} minutes to ${silence.MUTE_MINUTES.most / 1_440} days, or until you delete it`,
  ],
  ['links in a message', `one use, ${silence.LINK_LIFETIME_SECONDS / DAY_SECONDS} days`],
  ['attempts at a code', `${MAX_CODE_ATTEMPTS}, then request a new one, once a minute`],
  ['emails with codes', mails(alertMails.CODE_MAIL_LIMITS)],
  ['test emails', mails(alertMails.TEST_MAIL_LIMITS)],
  ['rules of a workspace', count(rules.MAX_RULES_PER_WORKSPACE)],
  [
    'parts of a rule',
    `${rules.MAX_RULE_KINDS} kinds, ${rules.MAX_RULE_OBJECTS} objects, ${rules.MAX_RULE_LABELS} labels, ${rules.MAX_ESCALATION_STEPS} steps, ${rules.MAX_ESCALATION_REPEATS} repeats`,
  ],
  [
    'problems that wait for a step',
    `${count(rules.MAX_ESCALATING_PER_WORKSPACE)}; further ones are not escalated`,
  ],
  [
    'messages at once',
    `${alertMails.PARALLEL_MESSAGES} in an instance, ${alertMails.PARALLEL_MESSAGES_PER_ACCOUNT} of one account`,
  ],
])}

${section('Delisting', [
  [
    'emails to operators',
    'five a day from one account to one operator, ten a day from the installation',
  ],
  ['attempts of a step', '3'],
])}

${section('Migrations', [
  ['migrations at once', '`MIGRATION_CONCURRENCY` (4); accounts share them'],
  [
    'time without a completed message',
    `${SLOT_LIMITS.standstillMs / MINUTE_MS} minutes, then back to the queue; ${SLOT_LIMITS.maxStandstills} times`,
  ],
  ['a dry run', `${SLOT_LIMITS.dryRunMs / MINUTE_MS} minutes`],
  ['an unreachable server', `${WAIT_TIMES.unreachableMs / MINUTE_MS} minutes`],
  ['mailboxes of a batch', count(BATCH_LIMITS.maxMailboxes)],
  ['open batches of a workspace', count(BATCH_LIMITS.maxOpenBatches)],
  ['file of a batch', bytes(BATCH_LIMITS.maxFileBytes)],
  ['mailboxes at once at a host', `${DEFAULT_HOST_LIMIT}, unless the batch sets its own`],
  [
    'a batch without an action or result',
    `${BATCH_LIMITS.idleDays} days, then its passwords are deleted`,
  ],
  [
    'interval of a synchronization',
    `${SYNC_LIMITS.minMinutes} minutes to ${SYNC_LIMITS.maxMinutes / 1_440} days, for ${SYNC_LIMITS.days} days`,
  ],
  ['MX hosts of a cut-over', count(CUTOVER_LIMITS.maxMxHosts)],
  ['an open cut-over', `${CUTOVER_LIMITS.maxDays} days`],
  [
    'proofs at once',
    `${PROOF_LIMITS.concurrency}, each up to ${PROOF_LIMITS.deadlineSeconds / HOUR_SECONDS} hours`,
  ],
  [
    'a link of an owner',
    `one use, ${OWNER_LINK_LIMITS.days} days (up to ${OWNER_LINK_LIMITS.maxDays}), ${OWNER_LINK_LIMITS.attempts} passwords`,
  ],
  ['mail credentials of a workspace', count(MAX_CREDENTIALS)],
])}

${section('Attack reporting', [
  ['lines of a bulk report', count(MAX_ROWS)],
  ['active bans of a fleet', count(fleet.MAX_ACTIVE_BANS)],
  [
    'addresses that a fleet remembers',
    `${count(fleet.MAX_REMEMBERED_ADDRESSES)}, each for 30 days after its last report`,
  ],
  ['changes of a fleet', `30 days, the newest ${count(fleet.MAX_CHANGES)}`],
  ['allowlist of a fleet', `${count(fleet.MAX_ALLOWED_NETWORKS)} networks`],
  ['rules of a fleet', count(fleet.MAX_RULES)],
  ['bouncer keys of a workspace', '100'],
  ['streams of a fleet', '1,000 of an account'],
  ['entries of chosen feeds', count(fleet.MAX_FEED_NETWORKS)],
  ['a public feed', '250,000 entries, 16 MiB, 2 minutes, networks of up to /8 (IPv6 /16)'],
  ['reports that wait in a relay', count(MAX_WAITING)],
  [
    'watched networks of a workspace',
    `${MAX_NETWORKS}, IPv4 /${WIDEST[4]} and IPv6 /${WIDEST[6]} at the widest, ${MAX_FINDINGS} entries of one list each`,
  ],
  [
    'abuse emails',
    `${MAILS_A_DAY.account} a day of an account, ${MAILS_A_DAY.recipient} a day to one recipient, ${count(MAX_ADDRESSES)} addresses a day, ${MAX_PARTS} with a part of their own`,
  ],
  ['peers of a federation', `${MAX_PEERS}; ${count(MAX_ITEMS_PER_DAY)} items a day from each`],
  ['alerts of CrowdSec in a request', `${count(MAX_ALERTS)}, ${bytes(ALERTS_BODY_LIMIT)}`],
  [
    'appeals',
    '10 a day from one address; for other addresses also 30 a day from one network, 100 from one provider',
  ],
])}

${section(
  'Shares of background work',
  [
    [
      'migrations and dry runs',
      '`MIGRATION_CONCURRENCY` (4)',
      'all while no other account waits, otherwise an equal share',
    ],
    [
      'reading report mailboxes',
      count(dmarc.MAX_CONCURRENT_MAILBOXES),
      'the same; 5 minutes per read',
    ],
    [
      'checks of monitored hosts',
      count(monitoring.PARALLEL_HOSTS),
      `${monitoring.PARALLEL_HOSTS_PER_ACCOUNT}; accounts take turns; 2 minutes per check`,
    ],
    ['delisting steps', '8 addresses per instance', 'accounts take turns'],
    [
      'alert messages',
      `${alertMails.PARALLEL_MESSAGES} per instance`,
      `${alertMails.PARALLEL_MESSAGES_PER_ACCOUNT}; 20 seconds per webhook, 5 minutes per email`,
    ],
    [
      'parsing of large emails',
      `${REPORT_LIMITS.threads} per instance`,
      `${REPORT_LIMITS.threadTime / 1_000} seconds and ${REPORT_LIMITS.threadMemory} MB per email`,
    ],
    ['verification of DMARC domains', '20', '4 seconds per domain'],
  ],
  ['work', 'at once', 'of one account'],
)}

One account cannot fill a queue while others wait. All limits apply across all instances, unless the table says otherwise.

${section('Webhooks', [
  ['endpoints of a workspace', count(webhooks.MAX_ENDPOINTS_PER_WORKSPACE)],
  [
    'requests of an endpoint',
    `the newest ${count(webhooks.REQUESTS_PER_ENDPOINT)}, for ${webhooks.RETENTION_DAYS} days`,
  ],
  [
    'body',
    `the first ${bytes(webhooks.MAX_STORED_BODY_BYTES)} is stored; up to ${bytes(webhooks.MAX_READ_BODY_BYTES)} are read; beyond: 413`,
  ],
  ['headers', '16 KiB; beyond: 431, stored as `rejected`'],
  [
    'time to send',
    '10 seconds for the headers, 60 for the whole request; then 408, stored as far as it arrived',
  ],
  [
    'body of a response',
    `${bytes(webhooks.MAX_RESPONSE_BODY_BYTES)}; values of a template ${bytes(webhooks.MAX_TEMPLATE_VALUE_BYTES)}`,
  ],
  [
    'delayed responses at once, in an instance',
    `${webhooks.MAX_DELAYED_PER_ENDPOINT} of an endpoint, ${webhooks.MAX_DELAYED_PER_ACCOUNT} of an account, ${count(webhooks.MAX_DELAYED_RESPONSES)} in all`,
  ],
  [
    'bodies in memory, of all senders',
    `${bytes(webhooks.BODY_MEMORY_BYTES)} beyond the first ${bytes(webhooks.UNCOUNTED_BODY_BYTES)} of each; then 503`,
  ],
  [
    'signatures verified for alerts',
    `${webhooks.MAX_VERIFIED_REQUESTS} of an endpoint a minute, ${bytes(webhooks.MAX_VERIFIED_BYTES_PER_ACCOUNT)} of an account`,
  ],
  [
    'rules',
    `${webhooks.MAX_RULES} of an endpoint, ${webhooks.MAX_RULE_ANSWERS} answers of a rule, ${bytes(webhooks.MAX_RULES_BYTES)} in all`,
  ],
  [
    'conditions of a rule',
    `${webhooks.MAX_CONDITIONS}, nested up to ${webhooks.MAX_CONDITION_DEPTH} levels`,
  ],
  [
    'keys of a sequence',
    `${count(webhooks.MAX_SEQUENCE_KEYS)}; those that expire first are forgotten`,
  ],
  [
    'chosen name of a URL',
    `${webhooks.MIN_NAME_CHARS} to ${webhooks.MAX_NAME_CHARS} characters; for others ${webhooks.HELD_NAME_DAYS} days after it was given up`,
  ],
  [
    'destinations',
    `${webhooks.MAX_DESTINATIONS_PER_ENDPOINT} of an endpoint, ${webhooks.MAX_DESTINATIONS_PER_WORKSPACE} of a workspace`,
  ],
  [
    'deliveries that wait for a destination',
    `${count(webhooks.MAX_WAITING_DELIVERIES)}, ${bytes(webhooks.MAX_WAITING_BYTES)} of bodies; then new ones are dropped`,
  ],
  [
    'edited requests',
    `${webhooks.MAX_EDITS_PER_ENDPOINT} of an endpoint, with bodies of up to ${bytes(webhooks.MAX_EDITED_BODY_BYTES)}`,
  ],
  [
    'links of an endpoint',
    `${webhooks.MAX_SHARES_PER_ENDPOINT}, for up to ${webhooks.MAX_SHARE_DAYS} days`,
  ],
  ['deliveries and attempts that have ended', `${webhooks.DELIVERY_RETENTION_DAYS} days`],
  ['alerts about silence', `${webhooks.MAX_SILENCES_PER_DAY} a day of an endpoint`],
])}
`
}

const intake = (value: (limits: typeof dmarc.GUARANTEED_LIMIT) => string) =>
  [dmarc.INTAKE_LIMITS.address, dmarc.INTAKE_LIMITS.account, dmarc.INTAKE_LIMITS.installation].map(
    value,
  )

/** In the order of the API reference, which names the operations. */
function requestRows(limits: RequestLimit[], reference: shown.Limit[]): Row[] {
  const order = reference.map(({ name }) => name)
  return limits
    .toSorted((one, other) => order.indexOf(one.noun) - order.indexOf(other.noun))
    .map(({ noun, rate: requests, maxConcurrent }) => [
      noun,
      requests ? `${count(requests.requests)} ${PERIODS[requests.windowSeconds]}` : '',
      maxConcurrent === undefined ? '' : count(maxConcurrent),
      (reference.find(({ name }) => name === noun)?.operations ?? [])
        .map((id) => `\`${id}\``)
        .join(', '),
    ])
}

function errorCodesPage(): string {
  return `# Error codes

A failed request has a status, a message for people and a \`code\` for programs: see [the API](api.md#responses). Codes of migrations: [fidelity](migration-fidelity.md#errors).

${table(
  ['status', 'code', 'meaning'],
  ERRORS.map(({ status, code, text }) => [status, `\`${code}\``, text]),
)}
`
}

function alertKindsPage(): string {
  return `# Alert kinds

What you can be [alerted](alerts.md) about. Filters and [rules](alert-rules.md) take a kind, or its first word.

${table(
  ['kind', 'event'],
  Object.entries(ALERT_KINDS).map(([kind, event]) => [`\`${kind}\``, event]),
)}
`
}

function commandsPage(): string {
  const sections = COMMANDS.subcommands.map((command) => {
    const leaves = leavesOf([COMMANDS, command])
    return `## ${command.name}\n\n${command.summary}.\n\n${leaves.map(leafText).join('\n\n')}`
  })
  return `# Commands

Every command with its flags, as \`portreeve help COMMAND\` prints them. How to use them: [command line](cli.md).

${sections.join('\n\n')}
`
}

type Path = [CliCommand, ...CliCommand[]]

function leavesOf(path: Path): Path[] {
  const subcommands = path.at(-1)?.subcommands ?? []
  if (subcommands.length === 0) return [path]
  return subcommands.flatMap((command) => leavesOf([...path, command]))
}

function leafText(path: Path): string {
  const command = path.at(-1) ?? path[0]
  const operands = command.operands
    .filter(({ summary }) => summary !== undefined)
    .map(({ name, summary = '' }) => [`\`${name}\``, summary] as const)
  const rows = [
    ...operands,
    ...flagRows(command.flags).map(([flag, text]) => [`\`${flag}\``, text]),
  ]
  const title =
    path.length > 2
      ? [
          `### ${path
            .slice(1)
            .map(({ name }) => name)
            .join(' ')}`,
          `${command.summary}.`,
        ]
      : []
  return [
    ...title,
    `\`\`\`text\n${synopses(path).join('\n')}\n\`\`\``,
    ...(command.description ?? []).map(withPageLinks),
    ...(rows.length > 0 ? [table(['argument', 'meaning'], rows)] : []),
  ].join('\n\n')
}

if (import.meta.main)
  for (const [path, page] of await referencePages()) writeFileSync(join(ROOT, path), page)
