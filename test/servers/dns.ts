import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server, type Socket as TcpSocket } from 'node:net'
import packet, { type Answer, type Question } from 'dns-packet'
import { findAnswer, parseRecord, type Records } from './dns-records.ts'

/** What is sent in place of the answer, or on the way to it. */
type Step =
  | 'answer'
  | 'silent'
  | 'SERVFAIL'
  | 'REFUSED'
  | 'FORMERR'
  | 'NOTIMP'
  | 'NXDOMAIN'
  /** An empty answer with the TC bit; over TCP the whole one. */
  | 'truncated'
  /**
   * The answer's first half with the TC bit, cut in the middle of a record; over TCP the whole one.
   */
  | 'cut'
  | 'wrong-id'
  | 'wrong-question'
  | 'wrong-type'
  | 'garbage'
  /** FORMERR with an empty question for queries with EDNS, the answer for others. */
  | 'no-edns'
  | { delayMs: number }
  | { bytes: (id: number) => Buffer }

/** One step or several in order, or by how often this question has been asked before. */
export type Behaviour = Step | Step[] | ((asked: number) => Step | Step[])

type Transport = 'udp' | 'tcp'
type Asked = {
  name: string
  type: string
  transport: Transport
  edns: boolean
  port: number
}

export type DnsServer = {
  address: string
  port: number
  /** All queries in order of arrival; names as they came, types as words. */
  queries: Asked[]
  /** Changes take effect immediately. */
  records: Records
  behaviours: Record<string, Behaviour>
  close(): Promise<void>
}

type Options = {
  /**
   * `'example.test MX': ['10 mx.example.test']`, in the text of zone files, names absolute and
   * without the final dot. A TXT item is one record, an array of strings its pieces;
   * `'*.example.test A'` is a wildcard. What is above a record exists (NODATA), everything else is
   * NXDOMAIN.
   */
  records?: Records
  /**
   * By `'name TYPE'`, `'name *'`, `'*.name TYPE'`, `'*.name *'` (anything below) or `'*'`: the
   * first that fits in this order.
   */
  behaviours?: Record<string, Behaviour>
  ttl?: number
  /** SOA minimum and TTL of negative answers. */
  negativeTtl?: number
  /** False: no server listens on the TCP port. */
  tcp?: boolean
  address?: string
}

/**
 * Starts an authoritative server for all names, which answers or misbehaves as configured; pass it
 * as `servers: [dns]`.
 */
export async function startDns(options: Options = {}): Promise<DnsServer> {
  const {
    records = {},
    behaviours = {},
    ttl = 300,
    negativeTtl = 60,
    tcp = true,
    address = '127.0.0.1',
  } = options
  const queries: Asked[] = []

  async function* packetsFor(
    bytes: Buffer,
    transport: Transport,
    port: number,
  ): AsyncGenerator<Buffer> {
    const { id = 0, questions: [question] = [], additionals = [] } = packet.decode(bytes)
    if (!question) return
    const { name, type } = question
    const before = queries.filter((asked) => asked.name === name && asked.type === type).length
    const edns = additionals.some((record) => record.type === 'OPT')
    queries.push({ name, type, transport, edns, port })
    for (const step of stepsFor(behaviours, question, before)) {
      if (isDelay(step)) await new Promise((done) => setTimeout(done, step.delayMs))
      else yield* packetOf(step, { id, question, edns, transport }, answer)
    }
  }

  function answer(id: number, question: Question): Buffer {
    const { rcode, answers } = findAnswer(records, question.name, question.type)
    const isPositive = answers.some(({ key }) => key.endsWith(` ${question.type}`))
    return packet.encode({
      id,
      type: 'response',
      flags: packet.AUTHORITATIVE_ANSWER | rcode,
      questions: [question],
      answers: answers.map(({ key, text }) => parseRecord(key, text, ttl)),
      authorities: isPositive ? [] : [soaAbove(question.name, negativeTtl)],
    })
  }

  const listening = await listen(address, tcp, packetsFor)
  return { address, port: listening.port, queries, records, behaviours, close: listening.close }
}

function soaAbove(name: string, ttl: number): Answer {
  return parseRecord(
    `${name.split('.').at(-1) || '.'} SOA`,
    `ns.invalid hostmaster.invalid 1 1 1 1 ${ttl}`,
    ttl,
  )
}

type Delay = { delayMs: number }
const isDelay = (step: Step): step is Delay => typeof step === 'object' && 'delayMs' in step

function stepsFor(
  behaviours: Record<string, Behaviour>,
  question: Question,
  asked: number,
): Step[] {
  const labels = question.name.toLowerCase().split('.')
  const above = labels.map((_label, index) => `*.${labels.slice(index + 1).join('.')}`)
  const keys = [labels.join('.'), ...above].flatMap((owner) => [
    `${owner} ${question.type}`,
    `${owner} *`,
  ])
  const behaviour =
    [...keys, '*'].map((key) => behaviours[key]).find((found) => found !== undefined) ?? 'answer'
  const steps = [typeof behaviour === 'function' ? behaviour(asked) : behaviour].flat()
  // A slow server answers in the end.
  return steps.every(isDelay) ? [...steps, 'answer'] : steps
}

const RCODES = { FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const

function* packetOf(
  step: Exclude<Step, Delay>,
  {
    id,
    question,
    edns,
    transport,
  }: { id: number; question: Question; edns: boolean; transport: Transport },
  answer: (id: number, question: Question) => Buffer,
): Generator<Buffer> {
  const questions = [question]
  if (typeof step === 'object') yield step.bytes(id)
  else if (step in RCODES) yield bare(id, { flags: RCODES[step as keyof typeof RCODES], questions })
  else if (step === 'garbage') yield Buffer.from('this is no packet')
  else if (step === 'wrong-id') yield poisoned((id + 1) & 0xffff, question)
  else if (step === 'wrong-question') yield poisoned(id, { ...question, name: 'elsewhere.invalid' })
  else if (step === 'wrong-type') yield poisoned(id, { ...question, type: 'SRV' })
  else if (step === 'no-edns' && edns) yield bare(id, { flags: RCODES.FORMERR })
  else if (step === 'truncated' && transport === 'udp')
    yield bare(id, { flags: packet.TRUNCATED_RESPONSE, questions })
  else if (step === 'cut' && transport === 'udp') yield cutInHalf(answer(id, question))
  else if (step !== 'silent') yield answer(id, question)
}

function cutInHalf(whole: Buffer): Buffer {
  whole.writeUInt8(whole.readUInt8(2) | 0x02, 2)
  return whole.subarray(0, Math.floor(whole.length / 2) + 8)
}

function bare(
  id: number,
  fields: { flags: number; questions?: Question[]; answers?: Answer[] },
): Buffer {
  return packet.encode({ id, type: 'response', ...fields })
}

/** A spoofed answer: if it is accepted, a test sees 203.0.113.66. */
function poisoned(id: number, question: Question): Buffer {
  const answers: Answer[] = [{ name: question.name, type: 'A', ttl: 60, data: '203.0.113.66' }]
  return bare(id, { flags: 0, questions: [question], answers })
}

type PacketsFor = (bytes: Buffer, transport: Transport, port: number) => AsyncGenerator<Buffer>

async function listen(address: string, withTcp: boolean, packetsFor: PacketsFor) {
  const { udp, tcp } = await bind(address, withTcp)
  let closed = false
  udp.on('message', (bytes, from) => void answerDatagram(bytes, from.port, from.address))
  async function answerDatagram(bytes: Buffer, port: number, host: string): Promise<void> {
    for await (const reply of packetsFor(bytes, 'udp', port))
      if (!closed) udp.send(reply, port, host)
  }
  tcp?.on('connection', (socket: TcpSocket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => void answerStream(socket, bytes))
  })
  async function answerStream(socket: TcpSocket, bytes: Buffer): Promise<void> {
    for await (const reply of packetsFor(bytes.subarray(2), 'tcp', socket.remotePort ?? 0)) {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(reply.length)
      socket.end(Buffer.concat([length, reply]))
    }
  }
  return {
    port: udp.address().port,
    close: async () => {
      closed = true
      udp.close()
      tcp?.close()
    },
  }
}

/** The same free port for both: one that is free for UDP may be taken for TCP. */
async function bind(
  address: string,
  withTcp: boolean,
): Promise<{ udp: UdpSocket; tcp: Server | null }> {
  for (let attempt = 1; ; attempt++) {
    const udp = createSocket(address.includes(':') ? 'udp6' : 'udp4')
    udp.bind(0, address)
    await once(udp, 'listening')
    if (!withTcp) return { udp, tcp: null }
    const tcp = createServer()
    try {
      await once(tcp.listen(udp.address().port, address), 'listening')
      return { udp, tcp }
    } catch (error) {
      udp.close()
      if (attempt === 10) throw error
    }
  }
}
