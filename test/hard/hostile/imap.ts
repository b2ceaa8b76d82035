import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { listen, type Listening } from '../../servers/listen.ts'
import { flood, trickle } from './flows.ts'

/** What the server does with one command instead of the usual response. */
type Trick = (socket: Socket, tag: string, name: string) => boolean

type Hostile = {
  greeting?: string
  onConnect?: (socket: Socket) => void
  trick?: Trick
  capability?: string
}

const at =
  (wanted: string, act: (socket: Socket, tag: string) => void): Trick =>
  (socket, tag, name) => {
    if (name !== wanted) return false
    act(socket, tag)
    return true
  }

/** Hostile IMAP servers, each with its misbehavior. */
export const HOSTILE_IMAP: Record<string, Hostile> = {
  'a greeting without end': {
    greeting: '* OK ',
    onConnect: (socket) => flood(socket, Buffer.alloc(65_536, 'x')),
  },
  'garbage in place of a greeting': {
    greeting: '',
    onConnect: (socket) => void socket.write(randomBytes(4_000)),
  },
  'garbage in place of an answer': {
    trick: at('LIST', (socket) => void socket.write(randomBytes(50_000))),
  },
  'a greeting of one byte a second': {
    greeting: '',
    onConnect: (socket) => trickle(socket, '* OK ready', 1_000),
  },
  'a line without end': {
    trick: at('LIST', (socket) => {
      socket.write('* LIST () "/" ')
      flood(socket, Buffer.alloc(65_536, 'x'))
    }),
  },
  'a literal of 4 GB, without end': {
    trick: at('LIST', (socket) => {
      socket.write('* LIST () "/" {4294967295}\r\n')
      flood(socket, Buffer.alloc(65_536, 'x'))
    }),
  },
  'a literal of 4 GB, in answer to sign-in': {
    trick: at(
      'LOGIN',
      (socket, tag) => void socket.write(`* CAPABILITY {4294967295}\r\nx ${tag} OK\r\n`),
    ),
  },
  'a close in the middle of an answer': {
    trick: at('LIST', (socket) => void socket.end('* LIST (\\HasNoChildren) "/" "IN')),
  },
  'a million folders': { trick: at('LIST', (socket, tag) => sendFolders(socket, tag, 1_000)) },
  'folders without end': { trick: at('LIST', (socket, tag) => sendFolders(socket, tag, Infinity)) },
  'EXISTS of four billion, and UIDs that go backwards': {
    trick: (socket, tag, name) => {
      if (name === 'EXAMINE') {
        socket.write(
          `* 4294967295 EXISTS\r\n* OK [UIDVALIDITY 7]\r\n* OK [UIDNEXT 4294967295]\r\n${tag} OK\r\n`,
        )
        return true
      }
      if (name !== 'UID') return false
      const rows = Array.from(
        { length: 200 },
        (_, n) => `* ${n + 1} FETCH (UID ${4294967295 - n} RFC822.SIZE 10)\r\n`,
      )
      socket.write(
        `* SEARCH ${Array.from({ length: 200 }, (_, n) => 4294967295 - n).join(' ')}\r\n`,
      )
      socket.write(`${rows.join('')}${tag} OK\r\n`)
      return true
    },
  },
  'a word of its own behind STARTTLS': {
    capability: 'IMAP4rev1 STARTTLS',
    trick: at(
      'STARTTLS',
      (socket, tag) =>
        void socket.write(
          `${tag} OK begin\r\n* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n* OK injected\r\n`,
        ),
    ),
  },
}

const folderLines = (block: number) =>
  Buffer.from(
    Array.from(
      { length: 1_000 },
      (_, n) => `* LIST (\\HasNoChildren) "/" "folder ${block} ${n}"\r\n`,
    ).join(''),
  )

function sendFolders(socket: Socket, tag: string, blocks: number): void {
  let block = 0
  const more = () => {
    while (block < blocks) if (!socket.write(folderLines((block += 1)))) return
    socket.off('drain', more).write(`${tag} OK\r\n`)
  }
  socket.on('drain', more)
  more()
}

export function startHostileImap({
  greeting = '* OK ready\r\n',
  onConnect,
  trick,
  capability = 'IMAP4rev1 NAMESPACE',
}: Hostile): Promise<Listening> {
  return listen((socket) => {
    socket.write(greeting)
    onConnect?.(socket)
    let rest = ''
    socket.on('data', (bytes: Buffer) => {
      const lines = (rest + bytes.toString('latin1')).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) answer(socket, line, capability, trick)
    })
  })
}

function answer(socket: Socket, line: string, capability: string, trick: Trick | undefined): void {
  const [tag = '', name = ''] = line.split(' ')
  if (trick?.(socket, tag, name.toUpperCase())) return
  if (name === 'CAPABILITY') socket.write(`* CAPABILITY ${capability}\r\n`)
  if (name === 'LIST') socket.write('* LIST (\\HasNoChildren) "/" "INBOX"\r\n')
  if (name === 'NAMESPACE') socket.write('* NAMESPACE (("" "/")) NIL NIL\r\n')
  if (name === 'STATUS')
    socket.write('* STATUS "INBOX" (MESSAGES 3 UNSEEN 0 UIDNEXT 4 UIDVALIDITY 7)\r\n')
  if (name === 'LOGOUT') return void socket.end(`* BYE\r\n${tag} OK\r\n`)
  socket.write(`${tag} OK done\r\n`)
}
