import { startImapFake, type FakeCommand, type ImapFake, type Reply } from './imap-fake.ts'

/** A message of the model. */
export type ModelMessage = { body: string; flags: string; date: string }

type StoredMessage = ModelMessage & { uid: number }

type ModelFolder = { uidValidity: number; uidNext: number; messages: StoredMessage[] }

/** What happens at one side of a migration. Numbers of commands are counted from 1 over all connections. */
export type Mischief = {
  /** Added to what EXISTS and STATUS tell. */
  exists: number
  status: number
  /** Of every so many messages one is left out; 0 for none. `times`: in so many answers. */
  search: { omits: number; adds: number; times: number }
  fetch: { omits: number; addsOther: boolean; times: number }
  /** `after` so many answers that leave nothing out. */
  bodies: { omits: number; times: number; after: number }
  /** Messages that are accepted and not stored: one of so many; 0 for none. */
  drops: number
  /** Whether rows and search results come in the reverse order. */
  isReversed: boolean
  /** Whether each item of a message comes in a response of its own. */
  splits: boolean
  /** Whether an equal message is kept once, as by Gmail. */
  keepsOne: boolean
  events: { at: number; does: ModelEvent }[]
}

type ModelEvent =
  /** Ends the connection before, or after the command was executed. */
  | 'hang-up'
  | 'hang-up-after'
  /** Rejects the command: NO, NO for the moment, or BAD. */
  | 'refuse'
  | 'busy'
  | 'bad'
  | 'renumber'
  | 'expunge-first'
  | 'expunge-last'
  | 'receive'

export const HONEST: Mischief = {
  exists: 0,
  status: 0,
  search: { omits: 0, adds: 0, times: 0 },
  fetch: { omits: 0, addsOther: false, times: 0 },
  bodies: { omits: 0, times: 0, after: 0 },
  drops: 0,
  isReversed: false,
  splits: false,
  keepsOne: false,
  events: [],
}

/** An account whose messages the test reads and changes directly. */
export type ImapModel = Pick<ImapFake, 'port' | 'lines' | 'close'> & {
  folders: Map<string, ModelFolder>
  /** Every message that was ever in a folder. */
  history: Map<string, ModelMessage[]>
  /** How the server behaves from now on. */
  behave(mischief: Mischief): void
}

/** Starts an IMAP server that keeps messages in memory, and lies and changes as configured. */
export async function startImapModel(
  contents: Record<string, ModelMessage[]>,
  { hasUidPlus = true }: { hasUidPlus?: boolean } = {},
): Promise<ImapModel> {
  let mischief = HONEST
  let commands = 0
  const counts = { search: 0, fetch: 0, bodies: 0, appends: 0, validity: 1 }
  const folders = new Map<string, ModelFolder>()
  const history = new Map<string, ModelMessage[]>()
  const open = new Map<number, { folder: ModelFolder; hangUp: () => void }>()

  function create(path: string, messages: ModelMessage[] = []): void {
    folders.set(path, { uidValidity: counts.validity++, uidNext: 1, messages: [] })
    history.set(path, history.get(path) ?? [])
    for (const message of messages) store(path, message)
  }
  function store(path: string, message: ModelMessage): number {
    const folder = folders.get(path) as ModelFolder
    folder.messages.push({ ...message, uid: folder.uidNext })
    history.get(path)?.push(message)
    return folder.uidNext++
  }
  for (const [path, messages] of Object.entries(contents)) create(path, messages)
  if (!folders.has('INBOX')) create('INBOX')

  /** Leaves out one of `each` items, in the first answers only. */
  function without<T>(items: T[], each: number, times: number, done: number): T[] {
    if (each === 0 || done > times) return items
    return items.filter((_, index) => index % each !== each - 1)
  }
  const inOrder = <T>(items: T[]): T[] => (mischief.isReversed ? items.toReversed() : items)

  function happen(does: ModelEvent): void {
    for (const [path, folder] of folders) {
      if (does === 'renumber') {
        folder.uidValidity = counts.validity++
        folder.uidNext = 1
        // UIDs never change within a session (RFC 3501, 2.3.1.1).
        for (const each of folder.messages) each.uid = folder.uidNext++
        for (const session of open.values()) if (session.folder === folder) session.hangUp()
      }
      if (does === 'expunge-first') folder.messages.shift()
      if (does === 'expunge-last') folder.messages.pop()
      if (does === 'receive') store(path, newMessage(`arrived ${commands}`))
    }
  }

  async function script(command: FakeCommand, reply: Reply): Promise<boolean> {
    commands += 1
    const { events } = mischief
    const due = events.filter(({ at }) => at === commands).map(({ does }) => does)
    for (const does of due) happen(does)
    const hasEnded = due.includes('renumber') && open.has(command.connection)
    if (due.includes('hang-up') || hasEnded) return hangUp(reply)
    // Under another name, the test would not find the folder.
    if (command.name !== 'CREATE') {
      if (due.includes('refuse')) return (reply.no('Internal error'), true)
      if (due.includes('busy')) return (reply.no('[UNAVAILABLE] Try again later'), true)
      if (due.includes('bad')) return (reply.bad('Command Argument Error'), true)
    }
    if (!due.includes('hang-up-after')) return execute(command, reply)
    execute(command, { ...reply, say() {}, raw() {}, ok() {}, no() {}, bad() {} })
    return hangUp(reply)
  }

  function hangUp(reply: Reply): true {
    reply.hangUp()
    return true
  }

  function execute(command: FakeCommand, reply: Reply): boolean {
    const { name, connection } = command
    const words = wordsOf(command)
    const path = words[0] ?? ''
    const folder = folders.get(path)
    const opened = open.get(connection)?.folder
    if (name === 'LIST') {
      if (command.args.endsWith('"*"'))
        for (const each of folders.keys()) reply.say(`* LIST () "/" "${each}"`)
      reply.ok()
    } else if (name === 'CREATE') {
      if (folder) reply.no('[ALREADYEXISTS] It exists')
      else {
        create(path)
        reply.ok()
      }
    } else if (name === 'STATUS' || name === 'SELECT' || name === 'EXAMINE') {
      if (!folder) return refuse(reply)
      if (name === 'STATUS') status(path, folder, reply)
      else {
        open.set(connection, { folder, hangUp: () => reply.hangUp() })
        select(folder, reply, name)
      }
    } else if (name === 'APPEND') append(command, words, reply)
    else if (name === 'UID SEARCH' && opened) search(opened, command.args, reply)
    else if (name === 'UID FETCH' && opened) fetch(opened, command.args, reply)
    else if (name === 'UID STORE' && opened) storeFlags(opened, command.args, reply)
    else if (name === 'UID EXPUNGE' && opened) {
      const isGone = ({ uid, flags }: StoredMessage) =>
        isIn(command.args, uid, opened.uidNext) && flags.includes('\\Deleted')
      opened.messages = opened.messages.filter((each) => !isGone(each))
      reply.ok()
    } else return false
    return true
  }

  function status(path: string, { messages, uidNext, uidValidity }: ModelFolder, reply: Reply) {
    const told = Math.max(0, messages.length + mischief.status)
    reply.say(
      `* STATUS "${path}" (MESSAGES ${told} UNSEEN 0 UIDNEXT ${uidNext} UIDVALIDITY ${uidValidity})`,
    )
    reply.ok()
  }

  function select({ messages, uidNext, uidValidity }: ModelFolder, reply: Reply, name: string) {
    reply.say(
      '* FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)',
      `* ${Math.max(0, messages.length + mischief.exists)} EXISTS`,
      '* OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft \\*)] kept',
      `* OK [UIDVALIDITY ${uidValidity}] valid`,
      `* OK [UIDNEXT ${uidNext}] next`,
    )
    reply.ok(name === 'SELECT' ? '[READ-WRITE] open' : '[READ-ONLY] open')
  }

  function append({ literals, args }: FakeCommand, words: string[], reply: Reply): void {
    const path = words[0] ?? ''
    const folder = folders.get(path)
    if (!folder) return reply.no('[TRYCREATE] No such mailbox')
    const flags = /\(([^)]*)\)/.exec(args)?.[1] ?? ''
    const date = /"(\s?\d+-\w{3}-\d{4} [^"]+)"/.exec(args)?.[1] ?? ''
    const body = literals.at(-1)?.toString('latin1') ?? ''
    counts.appends += 1
    const isDropped = mischief.drops > 0 && counts.appends % mischief.drops === 0
    const same = mischief.keepsOne ? folder.messages.find((each) => each.body === body) : undefined
    const uid = isDropped ? folder.uidNext++ : (same?.uid ?? store(path, { body, flags, date }))
    reply.ok(hasUidPlus ? `[APPENDUID ${folder.uidValidity} ${uid}] stored` : 'stored')
  }

  function storeFlags({ messages, uidNext }: ModelFolder, args: string, reply: Reply): void {
    const [, set = '', sign = '', flags = ''] = /^(\S+) ([+-])FLAGS\S* \(([^)]*)\)/.exec(args) ?? []
    for (const message of messages.filter(({ uid }) => isIn(set, uid, uidNext))) {
      const left = message.flags.split(' ').filter((flag) => !flags.split(' ').includes(flag))
      message.flags = [...left, ...(sign === '+' ? [flags] : [])].join(' ').trim()
    }
    reply.ok()
  }

  function search({ messages, uidNext }: ModelFolder, args: string, reply: Reply): void {
    counts.search += 1
    const { omits, adds, times } = mischief.search
    const set = /UID (\S+)$/.exec(args)?.[1] ?? '1:*'
    const found = messages.filter(({ uid }) => isIn(set, uid, uidNext)).map(({ uid }) => uid)
    const listed = without(found, omits, times, counts.search)
    if (counts.search <= times && adds > 0) listed.push(uidNext + adds - 1)
    reply.say(`* SEARCH ${inOrder(listed).join(' ')}`.trimEnd())
    reply.ok()
  }

  function fetch({ messages, uidNext }: ModelFolder, args: string, reply: Reply): void {
    const [set = ''] = args.split(' ')
    const isBody = args.includes('BODY.PEEK[]')
    const kind = isBody ? 'bodies' : 'fetch'
    counts[kind] += 1
    const { omits, times, after } = { after: 0, ...mischief[kind] }
    const asked = messages.filter(({ uid }) => isIn(set, uid, uidNext))
    const listed = counts[kind] > after ? without(asked, omits, times, counts[kind] - after) : asked
    const other = messages.find((each) => !asked.includes(each))
    if (mischief.fetch.addsOther && other && counts.fetch <= mischief.fetch.times)
      listed.push(other)
    for (const each of inOrder(listed))
      reply.raw(rowOf(each, messages.indexOf(each) + 1, args, { isBody, ...mischief }))
    reply.ok()
  }

  const fake = await startImapFake({
    capability: `IMAP4rev1 LITERAL+${hasUidPlus ? ' UIDPLUS' : ''}`,
    script,
  })
  return {
    port: fake.port,
    lines: fake.lines,
    close: () => fake.close(),
    folders,
    history,
    behave(next) {
      mischief = next
      commands = 0
      Object.assign(counts, { search: 0, fetch: 0, bodies: 0, appends: 0 })
    },
  }
}

let made = 0

/** A message that no other has. */
export function newMessage(text: string): ModelMessage {
  made += 1
  return {
    body: `Message-ID: <new${made}@x.test>\r\nSubject: ${text}\r\n\r\n${text}\r\n`,
    flags: '\\Seen',
    date: '05-Jul-2024 08:09:10 +0000',
  }
}

function refuse(reply: Reply): true {
  reply.no('[NONEXISTENT] No such mailbox')
  return true
}

/** The words of a command: quoted, atoms, or literals in their places. */
function wordsOf({ args, literals }: FakeCommand): string[] {
  let used = 0
  return [...args.matchAll(/"((?:[^"\\]|\\.)*)"|\{\d+\+?\}|[^\s"]+/g)].map(([word, quoted]) => {
    if (quoted !== undefined) return quoted.replaceAll(/\\(.)/g, '$1')
    return /^\{\d+\+?\}$/.test(word) ? String(literals[used++]?.toString('latin1')) : word
  })
}

function isIn(set: string, uid: number, uidNext: number): boolean {
  return set.split(',').some((part) => {
    const [from = '', to = from] = part.split(':')
    const last = to === '*' ? uidNext : Number(to)
    return uid >= Number(from) && uid <= last
  })
}

function rowOf(
  { uid, flags, date, body }: StoredMessage,
  sequence: number,
  asked: string,
  { isBody, splits }: { isBody: boolean; splits: boolean },
): Buffer {
  const head = body.slice(0, body.indexOf('\r\n\r\n') + 2)
  const items = [`UID ${uid}`]
  if (asked.includes('FLAGS')) items.push(`FLAGS (${flags})`)
  if (asked.includes('INTERNALDATE')) items.push(`INTERNALDATE "${date}"`)
  if (asked.includes('RFC822.SIZE')) items.push(`RFC822.SIZE ${body.length}`)
  if (asked.includes('HEADER.FIELDS')) {
    const id = `${/^message-id:.*\r\n/im.exec(head)?.[0] ?? ''}\r\n`
    items.push(`BODY[HEADER.FIELDS (MESSAGE-ID)] {${id.length}}\r\n${id}`)
  }
  if (isBody) {
    const [, from, length] = /BODY\.PEEK\[\](?:<(\d+)\.(\d+)>)?/.exec(asked) ?? []
    const part = from === undefined ? body : body.slice(Number(from), Number(from) + Number(length))
    const name = from === undefined ? 'BODY[]' : `BODY[]<${from}>`
    items.push(`${name} {${part.length}}\r\n${part}`)
  }
  const [first = '', ...others] = items
  const responses =
    splits && others.length > 0 ? others.map((item) => `${first} ${item}`) : [items.join(' ')]
  return Buffer.from(
    responses.map((text) => `* ${sequence} FETCH (${text})\r\n`).join(''),
    'latin1',
  )
}
