import { randomUUID } from 'node:crypto'
import { globSync, readFileSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { propertyRuns } from '../property-runs.ts'
import { listFolderSizes } from '../../src/migration/folder-sizes.ts'
import { startDovecot } from '../servers/dovecot.ts'
import {
  messageOf,
  startImapMailboxFake,
  type Fault,
  type FakeMailboxOptions,
} from '../servers/imap-mailbox-fake.ts'
import { migrateFake } from './isolation.ts'
import { accountOn, fill, mail, read } from './mailbox.ts'
import { migrate } from './run.ts'

const REFUSALS = [
  'NO Internal error',
  'NO [SERVERBUG] Internal error occurred. Refer to server log.',
  'NO [UNAVAILABLE] Server error - Please try again later',
  'NO [INUSE] The mailbox is in use',
  'BAD Command Argument Error. 11',
]
const ENDS = ['BYE Internal error occurred.', 'BYE [UNAVAILABLE] Try again later', 'close']

/** What goes wrong, and what it may cost. */
type Kind = {
  side: 'source' | 'destination'
  at: Fault['at']
  answers: readonly string[]
  costs: 'message' | 'folder' | 'nothing'
}

const KINDS: readonly Kind[] = [
  { side: 'source', at: 'body', answers: [...REFUSALS, ...ENDS, 'long'], costs: 'message' },
  { side: 'source', at: 'metadata', answers: [...REFUSALS, ...ENDS], costs: 'nothing' },
  { side: 'source', at: 'metadata', answers: ['* 1 FETCH (FLAGS (', '* x'], costs: 'nothing' },
  { side: 'source', at: 'open', answers: [...REFUSALS, ...ENDS], costs: 'folder' },
  { side: 'source', at: 'status', answers: [...REFUSALS, ...ENDS], costs: 'nothing' },
  { side: 'destination', at: 'append', answers: [...REFUSALS, ...ENDS], costs: 'message' },
  { side: 'destination', at: 'open', answers: [...REFUSALS, ...ENDS], costs: 'folder' },
  { side: 'destination', at: 'create', answers: ENDS, costs: 'folder' },
  { side: 'destination', at: 'status', answers: REFUSALS, costs: 'nothing' },
]

const failure = fc
  .constantFrom(...KINDS)
  .chain(({ answers, ...kind }) =>
    fc.record({ kind: fc.constant(kind), answer: fc.constantFrom(...answers) }),
  )

const accounts = fc.record({
  counts: fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(620)), {
    minLength: 1,
    maxLength: 4,
  }),
  failures: fc.array(fc.record({ failure, folder: fc.nat(), uid: fc.nat() }), {
    minLength: 1,
    maxLength: 2,
  }),
  multi: fc.boolean(),
})

/** A fault, and the error that it leads to, if any. */
type Planned = { side: Kind['side']; fault: Fault; error: string | null; costs: Kind['costs'] }

function plan(
  names: readonly string[],
  counts: readonly number[],
  {
    failure: { kind, answer },
    folder: place,
    uid: number,
  }: { failure: { kind: Omit<Kind, 'answers'>; answer: string }; folder: number; uid: number },
): Planned {
  const index = place % names.length
  const folder = names[index] ?? ''
  const uid = 1 + (number % (counts[index] ?? 1))
  const { side, at, costs } = kind
  const where =
    at === 'append'
      ? { text: `message ${uid} in folder ${folder}.` }
      : at === 'body' || at === 'metadata'
        ? { folder, uid }
        : { folder }
  const error = costs === 'message' ? `${folder}/${uid}` : costs === 'folder' ? folder : null
  return { side, fault: { at, answer, ...where }, error, costs }
}

it(
  'one thing that goes wrong costs itself: everything else is copied, once',
  { timeout: 1_200_000 },
  async () => {
    const property = fc.asyncProperty(accounts, async ({ counts, failures, multi }) => {
      const names = counts.map((_, index) => (index === 0 ? 'INBOX' : `Folder ${index}`))
      const folders = Object.fromEntries(names.map((name, index) => [name, counts[index] ?? 0]))
      const planned = failures.map((each) => plan(names, counts, each))
      const faultsOf = (side: Kind['side']) =>
        planned.filter((each) => each.side === side).map(({ fault }) => fault)
      const source: FakeMailboxOptions = { folders, faults: faultsOf('source') }
      const capability = `IMAP4rev1 LITERAL+ UIDPLUS${multi ? ' MULTIAPPEND' : ''}`
      // INBOX is there, and never created.
      const isInbox = (each: Planned) => each.fault.at === 'create' && each.fault.folder === 'INBOX'
      const expected = planned.filter((each) => each.error !== null && !isInbox(each))
      const { errors, bodies, state } = await migrateFake(source, {
        faults: faultsOf('destination'),
        capability,
      })
      const lostFolders = new Set(
        expected.filter(({ costs }) => costs === 'folder').map(({ error }) => error),
      )
      const wanted = new Set(
        expected
          .filter(
            ({ error, costs }) =>
              costs === 'folder' || !lostFolders.has(String(error).split('/')[0] ?? ''),
          )
          .map(({ error }) => error),
      )
      expect(new Set(errors.map((error) => error.split(': ')[0]))).toEqual(wanted)
      expect(errors).toHaveLength(wanted.size)
      expect(state).toBe(wanted.size === 0 ? 'completed' : 'failed')
      for (const [index, name] of names.entries()) {
        const uids = Array.from({ length: counts[index] ?? 0 }, (_, n) => n + 1)
        const there = lostFolders.has(name)
          ? []
          : uids.filter((uid) => !wanted.has(`${name}/${uid}`))
        const texts = there.map((uid) => messageOf(name, uid).toString()).toSorted()
        expect(bodies[name] ?? []).toEqual(texts)
      }
    })
    await fc.assert(property, propertyRuns(20, 1_000))
  },
)

const CLOSING: FakeMailboxOptions = {
  folders: { INBOX: 2, 'EOM Reports ': 5, Later: 1 },
  faults: [
    { at: 'status', folder: 'EOM Reports ', answer: 'close' },
    { at: 'open', folder: 'EOM Reports ', answer: 'close' },
  ],
}

it('a folder that ends the connection is listed without its counts and size', async () => {
  const source = await startImapMailboxFake(CLOSING)
  onTestFinished(() => source.close())
  const account = { account: accountOn(source.port) }
  const sizes = await listFolderSizes(account, new AbortController().signal)
  expect(sizes.map(({ path, messages, bytes }) => [path, messages, bytes > 0])).toEqual([
    ['INBOX', 2, true],
    ['EOM Reports ', 0, false],
    ['Later', 1, true],
  ])
})

it('a folder that ends the connection is the only error of a dry run', async () => {
  const { errors, state } = await migrateFake(CLOSING, {}, { dryRun: true })
  expect([state, errors]).toEqual(['failed', ['EOM Reports : connection_lost']])
})

it('throttling is not attributed to a message: all wait for it, and nothing is lost', async () => {
  const throttled = 'NO Request is throttled. Suggested Backoff Time: 20 milliseconds'
  for (const at of ['body', 'metadata', 'open'] as const) {
    const { state, copied } = await migrateFake({
      folders: { INBOX: 20, Later: 1 },
      faults: [{ at, folder: 'INBOX', answer: throttled, times: 8 }],
    })
    expect([at, state, copied]).toEqual([at, 'completed', { INBOX: 20, Later: 1 }])
  }
})

it('a folder that refuses all of its messages costs no other folder', async () => {
  for (const answer of ['NO [UNAVAILABLE] Try again later', 'close']) {
    const { errors, copied } = await migrateFake({
      folders: { INBOX: 60, Later: 5 },
      faults: [
        { at: 'body', folder: 'INBOX', answer },
        { at: 'metadata', folder: 'INBOX', answer },
      ],
    })
    expect(errors.length).toBeGreaterThan(0)
    expect(errors.filter((error) => !error.startsWith('INBOX'))).toEqual([])
    expect(copied).toEqual({ Later: 5 })
  }
})

it('a broken message file of Dovecot costs itself', async () => {
  const [from, to] = await Promise.all([startDovecot({ layout: 'maildir' }), startDovecot()])
  onTestFinished(async () => void (await Promise.all([from.stop(), to.stop()])))
  for (const server of [from, to]) await server.addUser('alice', 'secret')
  // Other tests have servers there too.
  const mark = randomUUID()
  const letters = Array.from({ length: 20 }, (_, index) => ({
    body: mail(300, index === 6 ? `X-Mark: ${mark}\r\n` : ''),
  }))
  await fill(accountOn(from.port), { INBOX: letters, Later: [{}] })
  const files = globSync(join(tmpdir(), 'portreeve-dovecot-*/mail/alice/Maildir/{cur,new}/*'))
  const broken = files.find((file) => hasText(file, mark))
  // Dovecot trusts the size in the name.
  truncateSync(String(broken), 30)
  const { failures } = await migrate(from, to)
  expect(failures).toMatchObject([{ folder: 'INBOX', uid: 7 }])
  const there = await read(accountOn(to.port))
  expect([there['INBOX']?.length, there['Later']?.length]).toEqual([19, 1])
})

/** False for a file that another test has removed meanwhile. */
function hasText(file: string, text: string): boolean {
  try {
    return readFileSync(file, 'latin1').includes(text)
  } catch {
    return false
  }
}
