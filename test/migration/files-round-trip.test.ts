import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { filesAccount } from '../../src/cli/files/files-account.ts'
import { createLog } from '../../src/log.ts'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { migrateMailbox } from '../../src/migration/engine/migrate.ts'
import { findFolders } from '../../src/migration/files/find-folders.ts'
import {
  EXPORT_FORMATS,
  type ExportFormat,
} from '../../src/migration/files/formats/mail-export-formats.ts'
import type { LeftOut } from '../../src/migration/files/formats/found-message.ts'
import { decodeLevel, encodeLevel } from '../../src/migration/files/formats/level-names.ts'
import { openDestination } from '../../src/migration/files/open-destination.ts'
import { openSource } from '../../src/migration/files/open-source.ts'
import { openStoreSession } from '../../src/migration/files/server/serve-store.ts'
import type { MailStore, StoreFolder } from '../../src/migration/files/mail-files.sql.ts'
import { waitTimes } from './run.ts'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'portreeve-round-trip-'))))
afterEach(() => rmSync(folder, { recursive: true }))

const { signal } = new AbortController()

/** Names that a format, a mail program or a file system means something else by. */
const NAMES = [
  'INBOX|Data|Messages|1|1/x|X.mbox|X.sbd|X.sbd/Y|X.mbx|X|mbox|a/mbox|cur|new|tmp|cur/new|cur/tmp',
  'a.directory|.a.directory|dovecot-users|.hidden|a/.hidden|Subscriptions|Dovecot|README.txt',
  'build.log|x.eml|x.tmp|x.zip|.portreeve-1-1.tmp|100%|%2E|%2Ehidden|50%25|a%2|ends.|ends | begins',
  '..|...|. |a/..|~|*|"|\\|Entwürfe|Café & Bar|日本語|😀|a.b|A.B/c.d|&|&-|&AOk-|tab\there',
  'x'.repeat(100),
].flatMap((names) => names.split('|'))

type Message = { text: string; flags: string[] }
type Account = Map<string, Message[]>

const FROM = 'From a@b Tue Jan  2 03:04:05 2024'
const headerLine = fc.constantFrom(
  ...[
    'Subject: plain|From: a@b|>From: a@b|Content-Length: 3|Content-Length: 999999|Status: RO|status: D',
    'X-Status: AF|X-Keywords: NonJunk|X-UID: 7|X-IMAP: 1 2|X-IMAPbase: 1 2|X-Mozilla-Status: 0009',
    'X-Mozilla-Status2: 00200000|X-Mozilla-Keys: $label1|X-Gmail-Labels: Inbox,Unread|X-GM-THRID: 17',
    'X-Portreeve-Length: 5|X-Portreeve-Length: 5; raw|From - Mon Jan 01 00:00:00 2001|From |From nobody',
    "Subject: DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA|Message-ID: <1@x>| folded|\tfolded|no field",
    `Subject: 8-bit \xe9\xff|X-Nul: \0|X-Cr: a\rb|X-Long: ${'x'.repeat(3_000)}|${FROM}|>${FROM}`,
  ].flatMap((lines) => lines.split('|')),
)
const bodyLine = fc.constantFrom(
  ...[
    `||text|${FROM}|>${FROM}|>>${FROM}|${'>'.repeat(300)}${FROM}|From now on|>From now on|From a@x.test`,
    `Subject: quoted|Status: RO|X-Portreeve-Length: 2|.|a\rb|\r|nul \0|\xef\xbb\xbf|${'y'.repeat(5_000)}`,
  ].flatMap((lines) => lines.split('|')),
)
const lineEnds = fc.oneof(
  { weight: 6, arbitrary: fc.constant(['\r\n']) },
  { weight: 2, arbitrary: fc.constant(['\r\n', '\n', '\r', '\r\r\n']) },
  { weight: 1, arbitrary: fc.constantFrom(['\n'], ['\r']) },
)
const message = fc
  .record({
    header: fc.array(headerLine, { maxLength: 6 }),
    body: fc.array(bodyLine, { maxLength: 8 }),
    hasBlank: fc.boolean(),
    hasEnd: fc.boolean(),
    ends: lineEnds,
    flags: fc.subarray([
      '\\Seen',
      '\\Flagged',
      '\\Answered',
      '\\Draft',
      '\\Deleted',
      'one',
      '$Two',
    ]),
  })
  .chain(({ header, body, hasBlank, hasEnd, ends, flags }) => {
    const lines = [...header, ...(hasBlank ? [''] : []), ...body]
    return fc
      .array(fc.constantFrom(...ends), { minLength: lines.length, maxLength: lines.length })
      .map((endings): Message => {
        const text = lines.map((line, index) => `${line}${endings[index] ?? ''}`).join('')
        const whole = hasEnd ? text : text.replace(/[\r\n]+$/, '')
        return { text: whole === '' ? 'x' : whole, flags }
      })
  })

/** Writes an account to files, as an export does. */
async function exportTo(root: string, format: ExportFormat, account: Account): Promise<void> {
  const options = { state: `${root}.state`, signal, isDry: false }
  const store = await openDestination(root, format, options)
  const writer = store.writer ?? expect.fail()
  for (const [path, messages] of account) {
    if (!store.folders.has(path)) writer.create(path)
    const to = store.folders.get(path) ?? expect.fail()
    const arrived = messages.map(({ text, flags }, n) => {
      const incoming = writer.begin(to)
      for (let at = 0; at < text.length; at += 1_000)
        incoming.write(Buffer.from(text.slice(at, at + 1_000), 'latin1'))
      return { incoming, meta: { flags, moment: 1_700_000_000_000 + n * 1_000 } }
    })
    if (arrived.length > 0) await writer.commit(to, arrived)
  }
  store.close()
}

/** Reads an account from files, as an import does. */
async function importFrom(root: string): Promise<{ account: Account; left: LeftOut[] }> {
  const { folders, left } = findFolders(root)
  const options = { origin: root, state: `${root}.uids`, labels: 'once' as const, signal }
  const store = await openSource(folders, { ...options, onLeft: (each) => left.push(each) })
  return { account: accountIn(store), left }
}

function accountIn({ folders }: MailStore): Account {
  return new Map(
    [...folders].map(([path, { messages }]) => [
      path,
      messages.map(({ read, flags, size }) => {
        const text = Buffer.concat(Array.from(read(), (part) => Buffer.from(part)))
        expect(size).toBe(text.length)
        return { text: text.toString('latin1'), flags: [...flags] }
      }),
    ]),
  )
}

/** What must be equal: the messages of each folder with mail, in their order. */
function contents(account: Account, hasFlags: boolean): [string, unknown[]][] {
  return [...account]
    .filter(([, messages]) => messages.length > 0)
    .map(([path, messages]): [string, unknown[]] => [
      path,
      messages.map(({ text, flags }) => (hasFlags ? [text, flags.toSorted()] : text)),
    ])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}

describe.each(EXPORT_FORMATS)('an export as %s', (format) => {
  it('is imported and exported again, byte for byte', async () => {
    const texts = fc.sample(message, { numRuns: 500, seed: 41 })
    const account: Account = new Map(NAMES.map((name) => [name, []]))
    for (const [n, each] of texts.entries()) account.get(NAMES[n % NAMES.length] ?? '')?.push(each)
    const [first, second] = [join(folder, 'first'), join(folder, 'second')]
    await exportTo(first, format, account)
    const hasFlags = format !== 'eml'
    const imported = await importFrom(first)
    expect(imported.left.filter(({ isProblem }) => isProblem)).toEqual([])
    expect(contents(imported.account, hasFlags)).toEqual(contents(account, hasFlags))
    await exportTo(second, format, imported.account)
    expect(contents((await importFrom(second)).account, hasFlags)).toEqual(
      contents(account, hasFlags),
    )
    // A later run knows all of it, also without the UIDs of the first one.
    const options = { state: join(folder, 'other'), signal, isDry: false }
    const again = await openDestination(first, format, options)
    expect(contents(accountIn(again), hasFlags)).toEqual(contents(account, hasFlags))
    again.close()
    const names = readdirSync(first, { recursive: true, encoding: 'utf8' })
    const isTemporary = (name: string) =>
      /(?:^|\/)(?:\.(?:portreeve-)?\d+-\d+\.tmp|\.portreeve-[\w-]+\.size|tmp\/[^/]*portreeve(?:\.lf)?)$/.test(
        name,
      )
    expect(names.filter(isTemporary)).toEqual([])
  })
})

describe('an export by the engine', () => {
  /** A folder of a source in memory. */
  function folderOf(path: string, texts: readonly string[], flags: string[][] = []): StoreFolder {
    const messages = texts.map((text, index) => ({
      uid: index + 1,
      size: text.length,
      flags: flags[index] ?? [],
      date: ' 1-Jul-2024 08:09:10 +0200',
      messageId: null,
      read: () => [Buffer.from(text, 'latin1')],
      fill: null,
    }))
    const bytes = texts.reduce((sum, text) => sum + text.length, 0)
    return { path, uidValidity: 7, uidNext: texts.length + 1, messages, bytes }
  }

  async function run(format: ExportFormat, folders: readonly StoreFolder[], refused = '') {
    const source: MailStore = { folders: new Map(folders.map((each) => [each.path, each])) }
    const root = join(folder, format)
    const options = { state: `${root}.state`, signal, isDry: false }
    const store = await openDestination(root, format, options)
    const { writer = expect.fail() } = store
    const commit = writer.commit.bind(writer)
    writer.commit = async (to, messages) => {
      if (to.path === refused) throw Object.assign(new Error('no'), { code: 'EACCES' })
      return commit(to, messages)
    }
    const journal = createMemoryJournal()
    const outcome = await migrateMailbox({
      source: { account: filesAccount(['source']), openSession: () => openStoreSession(source) },
      destination: { account: filesAccount([root]), openSession: () => openStoreSession(store) },
      folders: 'all',
      options: { deduplicate: true, connections: 1, withNewMail: true },
      recordsDigests: false,
      journal,
      signal,
      log: createLog('silent'),
      waitTimes,
    })
    const notes = [...outcome.notes, ...store.notes()]
    const stored = [...store.folders.values()].map(({ path, messages }) => [path, messages.length])
    store.close()
    return { state: outcome.state, notes, stored, failures: journal.failures }
  }

  it.each(EXPORT_FORMATS)(
    'as %s gives a folder that it cannot have another name',
    async (format) => {
      const long = 'x'.repeat(300)
      const { state, notes, stored, failures } = await run(format, [
        folderOf('INBOX', ['Subject: 1\r\n\r\n']),
        folderOf(long, ['Subject: 2\r\n\r\n']),
        folderOf('Last', ['Subject: 3\r\n\r\n']),
      ])
      expect([state, failures, stored.length]).toEqual(['completed', [], 3])
      expect(stored).toEqual(
        expect.arrayContaining([
          ['INBOX', 1],
          ['Last', 1],
        ]),
      )
      expect(notes).toEqual([expect.objectContaining({ folder: long })])
    },
  )

  it('copies the other folders where one cannot be written', async () => {
    const texts = ['Subject: 1\r\n\r\n', 'Subject: 2\r\n\r\n']
    const folders = ['INBOX', 'Bad', 'Last'].map((path) => folderOf(path, texts))
    const { state, stored, failures } = await run('eml', folders, 'Bad')
    expect([state, Object.fromEntries(stored)]).toEqual(['failed', { INBOX: 2, Bad: 0, Last: 2 }])
    expect(new Set(failures.map(({ folder: path }) => path))).toEqual(new Set(['Bad']))
    expect(failures[0]?.message).toContain('Permission denied.')
  })

  it('says which keywords a Maildir could not have', async () => {
    const keywords = Array.from({ length: 30 }, (_, index) => `key${index}`)
    const texts = keywords.map((keyword) => `Subject: ${keyword}\r\n\r\n`)
    const flags = keywords.map((keyword) => [keyword])
    const { state, notes } = await run('maildir', [folderOf('INBOX', texts, flags)])
    expect([state, notes]).toEqual([
      'completed',
      [{ folder: 'INBOX', message: expect.stringContaining('key26, key27, key28, key29') }],
    ])
  })

  it.each(['Text', 'Text\n', 'Text\n\n', ''])(
    'adds to an mbox file that ends with %j',
    async (end) => {
      mkdirSync(join(folder, 'mbox'))
      const first = end === '' ? '' : `${FROM}\nSubject: 0\n\n${end}`
      writeFileSync(join(folder, 'mbox/A.mbox'), first)
      await run('mbox', [folderOf('A', ['Subject: 1\r\n\r\nText\r\n', 'Subject: 2\r\n\r\n'])])
      const { account } = await importFrom(join(folder, 'mbox'))
      const subjects = account.get('A')?.map(({ text }) => /Subject: (.)/.exec(text)?.[1])
      expect(subjects?.join('')).toBe(end === '' ? '12' : '012')
    },
  )

  it('writes no file over another, whatever its number is', async () => {
    mkdirSync(join(folder, 'eml/A'), { recursive: true })
    writeFileSync(join(folder, 'eml/A/00000002.eml'), 'Subject: kept\r\n\r\n')
    const { stored } = await run('eml', [
      folderOf('A', ['Subject: 1\r\n\r\n', 'Subject: 2\r\n\r\n']),
    ])
    expect(stored).toContainEqual(['A', 3])
    expect(readdirSync(join(folder, 'eml/A')).toSorted()).toEqual([
      '00000002.eml',
      '00000003.eml',
      '00000004.eml',
    ])
  })
})

describe('the name of a folder in an export', () => {
  it('is the one that is read back, and no other is changed', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom(...'% 2 5 E c u r n w t m p b o x . s d ~ \0 é'.split(' '), ' '),
        }),
        (level) => {
          expect(decodeLevel(encodeLevel(level))).toBe(level)
          if (encodeLevel(decodeLevel(level)) !== level) expect(decodeLevel(level)).toBe(level)
        },
      ),
    )
    for (const name of NAMES) expect(decodeLevel(encodeLevel(name))).toBe(name)
    expect(encodeLevel('..')).toBe('%2E%2E')
  })
})
