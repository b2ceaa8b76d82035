import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import packet from 'dns-packet'
import type { Listening } from '../../servers/listen.ts'
import { trickle } from './flows.ts'

type Question = { id: number; name: string; type: 'A'; bytes: Buffer }
type Tricks = { reply: (bytes: Buffer) => void; fromElsewhere: (bytes: Buffer) => void }

/** Bits of the second pair of bytes (RFC 1035, 4.1.1). */
const TRUNCATED = 0x0200

function answerTo({ id, name, type }: Question, more: object = {}): Buffer {
  const answers = [{ type: 'A' as const, name, ttl: 60, data: '192.0.2.1' }]
  return packet.encode({
    type: 'response',
    id,
    flags: 0x0180,
    questions: [{ name, type }],
    answers,
    ...more,
  })
}

/** An answer whose only record has a name that is a pointer, to itself without `pointer`. */
function loopTo(question: Question, pointer: number): Buffer {
  const head = packet.encode({
    type: 'response',
    id: question.id,
    flags: 0x0180,
    questions: [{ name: question.name, type: question.type }],
  })
  head.writeUInt16BE(1, 6)
  const record = Buffer.from([0xc0, pointer, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1])
  if (pointer === 0) record.writeUInt16BE(0xc000 | head.length, 0)
  return Buffer.concat([head, record])
}

/** The behavior of the resolver, by the first label of the name. */
export const HOSTILE_DNS: Record<string, (question: Question, tricks: Tricks) => void> = {
  'wrong-id': (question, { reply }) => {
    for (let n = 1; n < 200; n++) reply(answerTo({ ...question, id: (question.id + n) % 65_536 }))
  },
  'wrong-question': (question, { reply }) => reply(answerTo({ ...question, name: 'another.test' })),
  'pointer-to-itself': (question, { reply }) => reply(loopTo(question, 0)),
  'pointer-to-nowhere': (question, { reply }) => reply(loopTo(question, 0xff)),
  'alias-of-itself': (question, { reply }) =>
    reply(
      answerTo(question, {
        answers: [{ type: 'CNAME', name: question.name, ttl: 60, data: question.name }],
      }),
    ),
  'from-elsewhere': (question, { fromElsewhere }) => fromElsewhere(answerTo(question)),
  'truncated-then-endless': (question, { reply }) =>
    reply(answerTo(question, { flags: 0x0180 | TRUNCATED, answers: [] })),
  'truncated-then-large': (question, { reply }) =>
    reply(answerTo(question, { flags: 0x0180 | TRUNCATED, answers: [] })),
  garbage: (question, { reply }) =>
    reply(Buffer.concat([question.bytes.subarray(0, 2), Buffer.alloc(4_000, 0xff)])),
  late: (question, { reply }) => void setTimeout(() => reply(answerTo(question)), 30_000).unref(),
}

/** As many addresses as fit in 64 kB. */
function largeAnswer(question: Question): Buffer {
  const answers = Array.from({ length: 2_300 }, (_, n) => ({
    type: 'A' as const,
    name: 'x',
    ttl: 60,
    data: `192.0.${(n >> 8) & 255}.${n & 255}`,
  }))
  return answerTo(question, {
    answers: answers.map((answer) => ({ ...answer, name: question.name.slice(-4) })),
  })
}

function readQuestion(bytes: Buffer): Question | null {
  try {
    const { id = 0, questions: [question] = [] } = packet.decode(bytes)
    return question ? { id, name: question.name, type: question.type as 'A', bytes } : null
  } catch {
    return null
  }
}

/** Starts a hostile resolver. */
export async function startHostileDns(): Promise<Listening> {
  const [udp, elsewhere] = [createSocket('udp4'), createSocket('udp4')]
  udp.on('message', (bytes, { port, address }) => {
    const question = readQuestion(bytes)
    const trick = question && HOSTILE_DNS[question.name.split('.')[0] ?? '']
    if (!question || !trick) return
    trick(question, {
      reply: (reply) => udp.send(reply, port, address),
      fromElsewhere: (reply) => elsewhere.send(reply, port, address),
    })
  })
  udp.bind(0, '127.0.0.1')
  await once(udp, 'listening')
  const tcp = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', (bytes: Buffer) => {
        const question = readQuestion(bytes.subarray(2))
        if (question?.name.startsWith('truncated-then-large')) {
          const answer = largeAnswer(question)
          const length = Buffer.alloc(2)
          length.writeUInt16BE(answer.length)
          socket.write(Buffer.concat([length, answer]))
        } else {
          // Announces the maximum message length and sends nothing.
          socket.write(Buffer.from([0xff, 0xff]))
          trickle(socket, '\0', 100)
        }
      })
  })
  const { port } = udp.address()
  await once(tcp.listen(port, '127.0.0.1'), 'listening')
  return {
    port: (tcp.address() as AddressInfo).port,
    async close() {
      udp.close()
      elsewhere.close()
      tcp.close()
    },
  }
}
