import { gzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { Fault } from '../../src/errors.ts'
import type { MailboxRow } from '../../src/migration/batches/mailboxes/batch-mailboxes.sql.ts'
import { decodeText } from '../../src/migration/batches/parse/decode-text.ts'
import {
  readMailboxes,
  type ReadMailbox,
  type ReadOptions,
} from '../../src/migration/batches/parse/read-mailboxes.ts'
import { parseHost } from '../../src/net/address.ts'
import { renderReport } from '../../src/migration/batches/report.ts'
import { parseAsnTable } from '../../src/protocols/networks/load-asn-table.ts'
import { readNetwork } from '../../src/protocols/networks/read-network.ts'
import { guessTarget } from '../../web/src/check/guess-target.ts'
import { decodeFile } from '../../web/src/imports/decode-file.ts'
import { cidr } from '../../src/setting-values.ts'
import { parseLines, type ImportKind } from '../../web/src/imports/parse-lines.ts'
import { csvField } from '../../web/src/ui/lists/csv.ts'
import { runCases } from './run-cases.ts'

type List = {
  text: string | null
  /** The bytes of a file in base64, in place of the text. */
  file?: string
  columns?: ReadOptions['columns']
  /** `false` where every line names both servers. */
  defaults?: boolean
}

const SERVERS = { source: { host: 'old.example' }, destination: { host: 'new.example' } }

/** `problemHas` is a part of the problem of a mailbox, `neverHost` are hosts that are none. */
type ListFacts = {
  mailboxes?: { problemHas?: string }[]
  neverHost?: string[]
  refusedHas?: string
}

runCases('mailbox-lists.json', ({ text, file, columns, defaults = true }: List, expected) => {
  const facts = expected as ListFacts
  const options = { columns, samePassword: true, ...(defaults && SERVERS) }
  try {
    const content = text ?? decodeText(Buffer.from(file ?? '', 'base64'))
    const list = readMailboxes(content, options)
    const usable = list.mailboxes.filter(({ problem }) => problem === null)
    const hosts = usable.map(({ source }) => source.host)
    return {
      format: list.format,
      count: list.mailboxes.length,
      usable: usable.length,
      neverHost: facts.neverHost?.filter((host) => !hosts.includes(host)),
      mailboxes: list.mailboxes
        .slice(0, facts.mailboxes?.length)
        .map((mailbox, at) => withPart(mailbox, facts.mailboxes?.[at]?.problemHas)),
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { refusedHas: partOf(error.message, facts.refusedHas) }
  }
})

const withPart = (mailbox: ReadMailbox, part: string | undefined) => ({
  ...mailbox,
  problemHas: partOf(mailbox.problem ?? '', part),
})

const partOf = (text: string, part = '') => (text.includes(part) ? part : text)

type Names = {
  text?: string
  /** The bytes of a file in base64, in place of the text. */
  file?: string
  kind: ImportKind
}

runCases('pasted-names.json', ({ text, file = '', kind }: Names) => {
  const content = text ?? decodeFile(Buffer.from(file, 'base64'))
  const lines = parseLines(content ?? '', kind)
  return {
    isText: content !== null,
    labels: lines.map(({ label }) => label),
    names: lines.filter(({ problem }) => problem === null).map(({ name }) => name),
    problems: lines.flatMap(({ problem }) => problem?.kind ?? []),
  }
})

/** `right` has all answers that are right; `null` is a refusal. */
type Typed = { network: string } | { setting: string } | { host: string } | { check: string }

runCases('typed-addresses.json', (typed: Typed & { right: (string | null)[] }) => {
  const { right } = typed
  try {
    return { isRight: right.includes(readTyped(typed)) }
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw error
    return { isRight: right.includes(null) }
  }
})

function readTyped(typed: Typed): string | null {
  if ('network' in typed) return readNetwork(typed.network)
  if ('setting' in typed) return cidr(typed.setting).join('/')
  if ('check' in typed) return guessTarget(typed.check)?.name ?? null
  const host = parseHost(typed.host)
  return host.kind === 'ip' ? host.address : host.name
}

type Table = {
  /** Several texts are members of one gzip file. */
  text: string | string[]
  find?: string[]
  gzip?: boolean
  /** Bytes that are missing at its end. */
  cut?: number
}

runCases('asn-tables.json', ({ text, find = [], gzip = false, cut = 0 }: Table, expected) => {
  const members = [text].flat().map((part) => (gzip ? gzipSync(part) : Buffer.from(part)))
  const bytes = Buffer.concat(members)
  const right = (expected as { notWrong?: Record<string, number> }).notWrong ?? {}
  const found = findAll(bytes.subarray(0, bytes.length - cut), find)
  if (found === null) return { refused: true, notFound: true, notWrong: right }
  return {
    refused: false,
    found,
    notFound: Object.values(found).every((number) => number === null),
    notWrong: found,
  }
})

function findAll(bytes: Buffer, addresses: string[]): Record<string, number | null> | null {
  try {
    const table = parseAsnTable(bytes)
    return Object.fromEntries(addresses.map((ip) => [ip, table.find(ip)?.number ?? null]))
  } catch {
    return null
  }
}

type Cells = { cells: string[] }

function cellFacts({ cells }: Cells, shown: string[]): object {
  return {
    text: shown,
    hasText: cells.map((text, at) => shown[at]?.includes(text)),
    isFormula: shown.map((text) => /^[=+\-@\t\r\n]/.test(text) && !/^-(?:\d|$)/.test(text)),
  }
}

const cellsOfCsv = (csv: string) => parse(csv, { relax_column_count: true })[0] ?? []

runCases('csv-exports.json', (input: Cells) =>
  cellFacts(input, cellsOfCsv(input.cells.map(csvField).join(','))),
)

runCases('csv-exports.json', async (input: Cells) => {
  const rows = input.cells.map((user) => ({ source: { user }, destination: {} }) as MailboxRow)
  async function* parts() {
    yield rows
  }
  const csv = (await Array.fromAsync(renderReport(parts()))).join('')
  const read: Record<string, string>[] = parse(csv, { columns: true })
  return cellFacts(
    input,
    read.map((row) => row['source_user'] ?? ''),
  )
})
