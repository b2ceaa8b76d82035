// `npm run channels`: writes docs/channels/ and its table from the definitions of the channels.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formattedMarkdown, generatedBy, table, withParts } from './formatted.ts'
import type { ChannelManual, ChannelType } from '../src/alerts/channels/channel-type.ts'
import { CHANNEL_TYPES } from '../src/alerts/channels/channel-types.ts'
import { presentChannelTypes } from '../src/alerts/alert-view.ts'
import { ROOT } from './run.ts'

const FOLDER = join('docs', 'channels')
const ALERTS_PAGE = join('docs', 'alert-channels.md')

type Field = ReturnType<typeof presentChannelTypes>[number]['fields'][number]

const documented = CHANNEL_TYPES.flatMap((type) =>
  type.manual === null ? [] : [{ type, manual: type.manual }],
)

/** The pages as they must be, by their path from the root of the repository. */
export async function channelPages(): Promise<Map<string, string>> {
  const presented = new Map(presentChannelTypes().map(({ id, fields }) => [id, fields]))
  const pages = documented.map(async ({ type, manual }) => {
    const page = generatedBy('channels') + pageOf(type, manual, presented.get(type.id) ?? [])
    return [join(FOLDER, `${type.id}.md`), await formattedMarkdown(page)] as const
  })
  return new Map([...(await Promise.all(pages)), [ALERTS_PAGE, await alertsPage()]])
}

function pageOf({ id, name, docs, grouping }: ChannelType, manual: ChannelManual, fields: Field[]) {
  const { ending, disabling, limits } = manual
  return `# ${name}

${docs} Then add a channel of the type \`${id}\` under **Settings**, **Alert channels**, and send a test.

| setting | label | required | description |
|---|---|---|---|
${fields.map(rowOf).join('\n')}

- **Limits**: ${numbered(limits.title)} characters of title and ${numbered(limits.text)} of text; longer ones are cut. Up to ${limits.perMinute} messages a minute${grouping === 'never' ? ', one for each alert' : '; a burst of alerts is one message'}.
- **End of a problem**: ${ending}
- **Disabled when**: ${disabling} The channel is disabled after two such responses. Your other channels get an alert about it.
`
}

const numbered = (count: number) => count.toLocaleString('en-US')

function rowOf({ name, label, help, default: value, choices, required, secret }: Field): string {
  const notes = [
    help ?? '',
    secret ? 'Encrypted, and never shown again.' : '',
    choices === null ? '' : `One of ${choices.map((choice) => `\`${choice}\``).join(', ')}.`,
    value === null ? '' : `Default: \`${value}\`.`,
  ]
  const text = notes.filter((note) => note !== '').join(' ')
  const isRequired = required && value === null
  return `| \`${name}\` | ${label} | ${isRequired ? 'yes' : 'no'} | ${text.replaceAll('|', '\\|')} |`
}

/** docs/alert-channels.md with the table of all pages. */
async function alertsPage(): Promise<string> {
  const rows = documented.map(({ type: { id, name }, manual }) => [
    `[${name}](channels/${id}.md)`,
    `\`${id}\``,
    manual.ending,
  ])
  const channels = table(['service', '`type`', 'end of a problem'], rows)
  const page = readFileSync(join(ROOT, ALERTS_PAGE), 'utf8')
  return formattedMarkdown(withParts(page, 'channels', () => channels))
}

if (import.meta.main) {
  mkdirSync(join(ROOT, FOLDER), { recursive: true })
  for (const [path, page] of await channelPages()) writeFileSync(join(ROOT, path), page)
}
