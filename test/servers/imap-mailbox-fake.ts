import {
  startImapFake,
  type Edit,
  type FakeCommand,
  type ImapFake,
  type Reply,
} from './imap-fake.ts'

/** A message that the fake has: its source, and what FETCH tells about it. */
type FakeMessage = { uid: number; body: Buffer; flags: string; date: string }

/**
 * What goes wrong, each time. Without `folder` or `uid`, at all of them; `text` selects messages of
 * an APPEND by their content, and at `command` commands by their text. `answer` is one of:
 * - `NO …`, `BAD …`, `OK …`: the tagged response
 * - `BYE …`, `close`: the connection ends, with that line or without
 * - `* …`: this line in place of the right one, and the command goes on
 * - `short`, `long`: a literal with fewer or more bytes than announced
 */
export type Fault = {
  at: 'list' | 'status' | 'open' | 'search' | 'metadata' | 'body' | 'append' | 'create' | 'command'
  folder?: string
  uid?: number
  text?: string
  answer: string
  /** How often it happens; for ever without it. */
  times?: number
  /** How often it does not happen before. */
  after?: number
}

export type FakeMailboxOptions = {
  /** Numbers of messages by folder, named as they go over the wire. */
  folders?: Record<string, number>
  body?: (folder: string, uid: number) => Buffer
  flags?: string
  /** Attributes in LIST, by folder. */
  attributes?: Record<string, string>
  faults?: Fault[]
  edits?: Edit[]
  greeting?: string
  continuation?: string
  /** Whether a connection must send ID before it opens a folder, as at 163.com. */
  needsId?: boolean
  capability?: string
  ignoresCase?: boolean
  /** Names that CREATE refuses. */
  reserved?: RegExp
  /** As it goes over the wire, `"/"` by default. */
  delimiter?: string
  /** The code of APPEND, with `UIDS` for the UIDs. */
  appendUid?: string
  /** Whether names of responses are in lower case. */
  isLowerCase?: boolean
}

export type FakeMailbox = ImapFake & { folders: Map<string, FakeMessage[]> }

/** An account in memory that can be copied from and to, and that fails on demand. */
export async function startImapMailboxFake({
  folders: counts = {},
  body = (folder, uid) => messageOf(folder, uid),
  flags = '\\Seen',
  attributes = {},
  faults = [],
  edits = [],
  greeting = '* OK ready',
  continuation = '+ go on',
  needsId = false,
  capability = 'IMAP4rev1 LITERAL+ UIDPLUS',
  ignoresCase = false,
  reserved,
  delimiter = '"/"',
  appendUid = 'APPENDUID 7 UIDS',
  isLowerCase = false,
}: FakeMailboxOptions = {}): Promise<FakeMailbox> {
  const folders = new Map<string, FakeMessage[]>([['INBOX', []]])
  for (const [name, count] of Object.entries(counts))
    folders.set(
      name,
      Array.from({ length: count }, (_, index) => {
        const date = '" 1-Jul-2024 08:09:10 +0000"'
        return { uid: index + 1, body: body(name, index + 1), flags, date }
      }),
    )
  const before = new Map(faults.map((fault) => [fault, fault.after ?? 0]))
  const left = new Map(faults.map((fault) => [fault, fault.times ?? Infinity]))
  const opened = new Map<number, FakeMessage[]>()
  const openedNames = new Map<number, string>()
  const identified = new Set<number>()

  function faultAt(at: Fault['at'], folder: string, message?: FakeMessage): string | undefined {
    const fault = faults.find(
      (each) =>
        each.at === at &&
        (left.get(each) ?? 0) > 0 &&
        (each.folder ?? folder) === folder &&
        (each.uid ?? message?.uid) === message?.uid &&
        (each.text === undefined || message?.body.includes(each.text)),
    )
    const isEarly = fault && (before.get(fault) ?? 0) > 0
    if (fault) {
      const remaining = isEarly ? before : left
      remaining.set(fault, (remaining.get(fault) ?? 0) - 1)
    }
    return isEarly ? undefined : fault?.answer
  }

  function find(name: string): string | undefined {
    const isSame = (each: string) => each.toLowerCase() === name.toLowerCase()
    if (name.toUpperCase() === 'INBOX') return 'INBOX'
    return ignoresCase ? [...folders.keys()].find(isSame) : folders.has(name) ? name : undefined
  }

  /** Whether the command is over. */
  function fail(answer: string | undefined, reply: Reply): boolean {
    if (answer?.startsWith('NO ')) reply.no(answer.slice(3))
    else if (answer?.startsWith('BAD ')) reply.bad(answer.slice(4))
    else if (answer?.startsWith('OK ')) reply.ok(answer.slice(3))
    else if (answer?.startsWith('BYE ')) {
      reply.say(`* ${answer}`)
      reply.hangUp()
    } else if (answer === 'close') reply.hangUp()
    else return false
    return true
  }

  const nextUid = (messages: FakeMessage[]) => (messages.at(-1)?.uid ?? 0) + 1

  function fetch({ args, connection }: FakeCommand, reply: Reply): boolean {
    const messages = opened.get(connection) ?? []
    const [set = '', ...items] = args.split(' ')
    const asked = items.join(' ')
    const isBody = asked.includes('BODY.PEEK[]')
    const isMetadata = asked.includes('INTERNALDATE')
    for (const message of messages.filter(({ uid }) => isIn(uid, set))) {
      const at = isBody ? 'body' : 'metadata'
      const name = openedNames.get(connection) ?? ''
      const fault = isBody || isMetadata ? faultAt(at, name, message) : undefined
      if (fail(fault, reply)) return true
      if (fault?.startsWith('* ')) reply.raw(Buffer.from(`${fault}\r\n`, 'latin1'))
      else reply.raw(rowOf(message, asked, fault))
    }
    return false
  }

  function append({ args, literals }: FakeCommand, reply: Reply): boolean {
    const [, asked = ''] = /^(?:"([^"]*)"|\{\d+\+?\})/.exec(args) ?? []
    const isLiteral = args.startsWith('{')
    const name = find(isLiteral ? String(literals[0]?.toString('latin1')) : asked)
    const bodies = isLiteral ? literals.slice(1) : literals
    const messages = name === undefined ? undefined : folders.get(name)
    if (name === undefined || !messages) {
      reply.no('[TRYCREATE] No such mailbox')
      return true
    }
    const heads = [...args.matchAll(/(?:\(([^)]*)\) )?("[^"]{20,}" )?~?\{\d+\+?\}/g)].slice(
      isLiteral ? 1 : 0,
    )
    const uid = nextUid(messages)
    const added = bodies.map((bytes, index) => {
      const [, given = '', date = '" 1-Jul-2024 08:09:10 +0000"'] = heads[index] ?? []
      return { uid: uid + index, body: bytes, flags: given, date: date.trim() }
    })
    for (const message of added) {
      const fault = faultAt('append', name, { ...message, uid: 0 })
      if (fail(fault, reply)) return true
    }
    messages.push(...added)
    const uids = added.length > 1 ? `${uid}:${uid + added.length - 1}` : uid
    const code = appendUid.replace('UIDS', String(uids))
    reply.ok(capability.includes('UIDPLUS') ? `[${code}] done` : 'done')
    return true
  }

  function open(command: FakeCommand, asked: string, reply: Reply): boolean {
    const name = find(asked)
    opened.delete(command.connection)
    if (needsId && !identified.has(command.connection)) {
      reply.no(`${command.name} Unsafe Login. Please contact kefu@188.com for help`)
      return true
    }
    if (fail(faultAt('open', asked), reply)) return true
    const messages = name === undefined ? undefined : folders.get(name)
    if (name === undefined || !messages) return (reply.no('[NONEXISTENT] Unknown Mailbox'), true)
    opened.set(command.connection, messages)
    openedNames.set(command.connection, name)
    reply.say(
      `* ${messages.length} EXISTS`,
      '* OK [UIDVALIDITY 7]',
      `* OK [UIDNEXT ${nextUid(messages)}]`,
      '* OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft \\*)]',
    )
    return false
  }

  function status(asked: string, reply: Reply): boolean {
    const name = find(asked)
    if (fail(faultAt('status', asked), reply)) return true
    const messages = name === undefined ? undefined : folders.get(name)
    if (!messages) return (reply.no('[NONEXISTENT] Unknown Mailbox'), true)
    const items = `MESSAGES ${messages.length} UNSEEN 0 UIDNEXT ${nextUid(messages)} UIDVALIDITY 7`
    reply.raw(Buffer.from(`* STATUS "${asked}" (${items})\r\n`, 'latin1'))
    return false
  }

  function create(asked: string, reply: Reply): boolean {
    if (fail(faultAt('create', asked), reply)) return true
    if (reserved?.test(asked)) return (reply.no('[CANNOT] Invalid mailbox name'), true)
    if (find(asked) !== undefined) return (reply.no('[ALREADYEXISTS] It exists'), true)
    folders.set(asked, [])
    return false
  }

  function list(args: string, reply: Reply): boolean {
    if (!args.endsWith('"*"')) return false
    for (const name of folders.keys()) {
      const fault = faultAt('list', name)
      if (fail(fault, reply)) return true
      const line = fault ?? `* LIST (${attributes[name] ?? ''}) ${delimiter} "${name}"`
      reply.raw(Buffer.from(`${line}\r\n`, 'latin1'))
    }
    return false
  }

  function search({ args, connection }: FakeCommand, reply: Reply): boolean {
    const messages = opened.get(connection) ?? []
    if (fail(faultAt('search', openedNames.get(connection) ?? ''), reply)) return true
    const set = args.replace(/^UID /, '')
    const found = messages.filter(({ uid }) => set === 'ALL' || isIn(uid, set))
    reply.say(`* SEARCH ${found.map(({ uid }) => uid).join(' ')}`)
    return false
  }

  function script(command: FakeCommand, to: Reply): boolean {
    const { name, args, literals } = command
    const reply = isLowerCase ? inLowerCase(to) : to
    const text = { body: Buffer.from(`${name} ${args}`) } as FakeMessage
    const fault = faultAt('command', '', text)
    if (fail(fault, reply)) return true
    if (name === 'ID') identified.add(command.connection)
    if (fault) return (reply.raw(`${fault}\r\n`), reply.ok(), true)
    const asked = /"([^"]*)"/.exec(args)?.[1] ?? String(literals[0]?.toString('latin1'))
    const work: Record<string, () => boolean> = {
      LIST: () => list(args, reply),
      STATUS: () => status(asked, reply),
      EXAMINE: () => open(command, asked, reply),
      SELECT: () => open(command, asked, reply),
      CREATE: () => create(asked, reply),
      APPEND: () => append(command, reply),
      'UID SEARCH': () => search(command, reply),
      'UID FETCH': () => fetch(command, reply),
    }
    const run = work[name]
    if (!run) return false
    if (!run()) reply.ok()
    return true
  }

  const fake = await startImapFake({ greeting, capability, script, edits, continuation })
  return { ...fake, folders }
}

/** Says names of responses in lower case: up to their first list or string. */
function inLowerCase(reply: Reply): Reply {
  const lower = (bytes: string | Buffer) => {
    const text = bytes.toString('latin1')
    const end = text.search(/["([]|$/)
    return Buffer.from(text.slice(0, end).toLowerCase() + text.slice(end), 'latin1')
  }
  return {
    ...reply,
    say: (...lines) => reply.say(...lines.map(lower)),
    raw: (bytes) => reply.raw(lower(bytes)),
  }
}

/** A message of a folder, always the same. */
export function messageOf(folder: string, uid: number, bytes = 200): Buffer {
  const id = `${uid}.${Buffer.from(folder).toString('hex')}@example.org`
  const text = `Text of message ${uid} in folder ${folder}.\r\n`
  const head = `From: a@example.org\r\nMessage-ID: <${id}>\r\nSubject: ${uid}\r\n\r\n`
  return Buffer.from(head + text.repeat(Math.ceil(bytes / text.length)))
}

function isIn(uid: number, set: string): boolean {
  return set.split(',').some((range) => {
    const [from = '', to = from] = range.split(':')
    return uid >= Number(from) && (to === '*' || uid <= Number(to))
  })
}

function rowOf({ uid, body, flags, date }: FakeMessage, asked: string, fault?: string): Buffer {
  const items = [`UID ${uid}`]
  if (asked.includes('FLAGS')) items.push(`FLAGS (${flags})`)
  if (asked.includes('INTERNALDATE')) items.push(`INTERNALDATE ${date}`)
  if (asked.includes('RFC822.SIZE')) items.push(`RFC822.SIZE ${body.length}`)
  const [name, literal] = partOf(body, asked)
  if (name === null) return Buffer.from(`* ${uid} FETCH (${items.join(' ')})\r\n`)
  const announced = literal.length + (fault === 'short' ? 7 : fault === 'long' ? -7 : 0)
  return Buffer.concat([
    Buffer.from(`* ${uid} FETCH (${items.join(' ')} ${name} {${announced}}\r\n`),
    literal,
    Buffer.from(')\r\n'),
  ])
}

function partOf(body: Buffer, asked: string): [name: string | null, literal: Buffer] {
  const [isBody, from, length] = /BODY\.PEEK\[\](?:<(\d+)\.(\d+)>)?/.exec(asked) ?? []
  if (isBody === undefined) {
    if (!asked.includes('MESSAGE-ID')) return [null, Buffer.alloc(0)]
    const id = /^message-id:.*\r\n/im.exec(body.toString('latin1'))?.[0] ?? ''
    return ['BODY[HEADER.FIELDS (MESSAGE-ID)]', Buffer.from(`${id}\r\n`)]
  }
  if (from === undefined) return ['BODY[]', body]
  const start = Number(from)
  return [`BODY[]<${from}>`, body.subarray(start, start + Number(length))]
}
