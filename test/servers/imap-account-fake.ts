import { startImapFake, type FakeCommand, type ImapFake, type Reply } from './imap-fake.ts'

/** A folder of a fake account: its messages are generated when they are fetched. */
export type FakeFolder = {
  /** Attributes in its LIST line. */
  flags?: string
  /** UIDs are 1 to `count`. */
  count: number
  body: (uid: number) => Buffer
  /** Whether a search lists a message; `time` counts the searches. Default: all are listed. */
  lists?: (uid: number, time: number) => boolean
  /** Further attributes of a message, such as `X-GM-MSGID 5`. */
  also?: (uid: number) => string
  /**
   * Reported values that differ from the real ones: FLAGS, INTERNALDATE, RFC822.SIZE; NIL for none.
   */
  tells?: (uid: number) => Record<string, string>
  /**
   * The response in place of a body, or of its part from a byte on (null: the whole body was
   * requested).
   */
  answers?: (uid: number, body: Buffer, from: number | null) => Buffer
}

/**
 * An IMAP server from which an account can be copied: for what only Gmail does, for messages that
 * no real server would take, and for folders too large to fill. Names are one character a byte, as
 * they go over the wire.
 * @param hold a command is answered when what it returns has resolved
 */
export async function startImapAccountFake(
  folders: Record<string, FakeFolder>,
  capability = 'IMAP4rev1 LITERAL+ UIDPLUS',
  hold: (command: FakeCommand) => Promise<void> | undefined = () => undefined,
): Promise<ImapFake> {
  const open = new Map<number, FakeFolder>()
  let searches = 0

  async function script(command: FakeCommand, reply: Reply): Promise<boolean> {
    await hold(command)
    const { name, args, connection, literals } = command
    const asked = /"([^"]*)"/.exec(args)?.[1] ?? String(literals[0]?.toString('latin1'))
    const folder = folders[asked]
    const opened = open.get(connection)
    if (name === 'LIST') list(folders, args, reply)
    else if (name === 'STATUS') {
      if (!folder) return refuse(reply)
      const items = `MESSAGES ${folder.count} UNSEEN 0 UIDNEXT ${folder.count + 1} UIDVALIDITY 7`
      reply.raw(Buffer.from(`* STATUS "${asked}" (${items})\r\n`, 'latin1'))
    } else if (name === 'EXAMINE') {
      if (!folder) return refuse(reply)
      open.set(connection, folder)
      reply.say(
        `* ${folder.count} EXISTS`,
        '* OK [UIDVALIDITY 7]',
        `* OK [UIDNEXT ${folder.count + 1}]`,
      )
    } else if (name === 'UID SEARCH' && opened) {
      const [from, to] = rangeOf(args.replace('UID ', ''), opened)
      const time = (searches += 1)
      const uids = Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => from + n)
      const listed = uids.filter((uid) => opened.lists?.(uid, time) ?? true)
      reply.say(`* SEARCH ${listed.join(' ')}`)
    } else if (name === 'UID FETCH' && opened) fetch(opened, args, reply)
    else return false
    reply.ok()
    return true
  }

  return startImapFake({ capability, script })
}

function refuse(reply: Reply): true {
  reply.no('[NONEXISTENT] Unknown Mailbox')
  return true
}

function list(folders: Record<string, FakeFolder>, args: string, reply: Reply): void {
  if (!args.endsWith('"*"')) return
  for (const [path, { flags = '' }] of Object.entries(folders)) {
    reply.raw(Buffer.from(`* LIST (${flags}) "/" "${path}"\r\n`, 'latin1'))
  }
}

function rangeOf(set: string, { count }: FakeFolder): [number, number] {
  const [from = '', to = from] = set.split(':')
  return [Number(from), Math.min(count, to === '*' ? count : Number(to))]
}

function fetch(folder: FakeFolder, args: string, reply: Reply): void {
  const [set = '', ...items] = args.split(' ')
  const asked = items.join(' ')
  for (const part of set.split(',')) {
    const [from, to] = rangeOf(part, folder)
    for (let uid = from; uid <= to; uid++) reply.raw(rowOf(folder, uid, asked))
  }
}

/** One FETCH response with the requested items. */
function rowOf({ body, also, tells, answers }: FakeFolder, uid: number, asked: string): Buffer {
  const bytes = body(uid)
  const head = bytes.toString('latin1', 0, bytes.indexOf('\r\n\r\n') + 2)
  const id = /^message-id:.*\r\n/im.exec(head)?.[0] ?? ''
  const told = {
    FLAGS: '(\\Seen)',
    INTERNALDATE: '" 1-Jul-2024 08:09:10 +0000"',
    'RFC822.SIZE': String(bytes.length),
    ...tells?.(uid),
  }
  const items = [`UID ${uid}`, ...Object.entries(told).map(([name, value]) => `${name} ${value}`)]
  if (also) items.push(also(uid))
  const [name, literal] = bodyOf()
  return Buffer.concat([
    Buffer.from(`* ${uid} FETCH (${items.join(' ')} ${name} {${literal.length}}\r\n`),
    literal,
    Buffer.from(')\r\n'),
  ])

  function bodyOf(): [name: string, literal: Buffer] {
    const [isBody, from, length] = /BODY\.PEEK\[\](?:<(\d+)\.(\d+)>)?/.exec(asked) ?? []
    if (isBody === undefined) return ['BODY[HEADER.FIELDS (MESSAGE-ID)]', Buffer.from(`${id}\r\n`)]
    if (from === undefined) return ['BODY[]', answers?.(uid, bytes, null) ?? bytes]
    const rest = (answers?.(uid, bytes, Number(from)) ?? bytes).subarray(Number(from))
    return [`BODY[]<${from}>`, rest.subarray(0, Number(length))]
  }
}
