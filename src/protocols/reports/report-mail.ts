import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Fault } from '../../errors.ts'
import { createSlots } from '../../net/slots.ts'
import { REPORT_LIMITS } from './report-limits.ts'
import { parseMail, type OpenedMail } from './report-mail-parts.ts'

/**
 * Takes a mail apart. A large one is taken apart in a thread of its own, whose memory and time are
 * bounded: the parser works in one go, and for some megabytes of empty lines it needs minutes and
 * gigabytes.
 * @throws Fault `invalid_request`, `too_large`
 */
export async function openMail(bytes: Uint8Array): Promise<OpenedMail> {
  refuseTooMany(bytes)
  if (headerLength(bytes) > REPORT_LIMITS.header)
    throw new Fault('too_large', 'The header of the message is too large.')
  return bytes.length <= REPORT_LIMITS.atOnce ? parseMail(bytes) : takeApartElsewhere(bytes)
}

const [LF, HYPHEN] = [0x0a, 0x2d]

/** In one pass by hand: a call for every line would take longer than all the rest. */
function refuseTooMany(bytes: Uint8Array): void {
  let [lines, boundaries] = [0, 0]
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== LF) continue
    lines++
    if (bytes[at + 1] === HYPHEN && bytes[at + 2] === HYPHEN) boundaries++
  }
  if (boundaries > REPORT_LIMITS.boundaries)
    throw new Fault('too_large', 'The message has too many parts.')
  const isSparse =
    lines > REPORT_LIMITS.sparseLines && lines * REPORT_LIMITS.lineBytes > bytes.length
  if (isSparse || lines > REPORT_LIMITS.lines)
    throw new Fault('too_large', 'The message has too many lines.')
}

/** Bytes before the first empty line. */
function headerLength(bytes: Uint8Array): number {
  const buffer = viewOf(bytes)
  const ends = ['\r\n\r\n', '\n\n'].map((end) => buffer.indexOf(end)).filter((at) => at >= 0)
  return ends.length > 0 ? Math.min(...ends) : bytes.length
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** Threads at once: more would take the processor from interactive requests. */
const threads = createSlots(REPORT_LIMITS.threads)

async function takeApartElsewhere(bytes: Uint8Array): Promise<OpenedMail> {
  await threads.acquire([])
  try {
    return await inThread(bytes)
  } finally {
    threads.release()
  }
}

/** The file beside this one: TypeScript in a checkout, JavaScript in the package. */
const WORKER = new URL(
  `./report-mail-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`,
  import.meta.url,
)

async function inThread(bytes: Uint8Array): Promise<OpenedMail> {
  const worker = new Worker(WORKER, {
    workerData: bytes,
    resourceLimits: { maxOldGenerationSizeMb: REPORT_LIMITS.threadMemory, stackSizeMb: 4 },
    execArgv: [],
  })
  const deadline = AbortSignal.timeout(REPORT_LIMITS.threadTime)
  try {
    // An error of the thread rejects this; one that is out of memory ends that way too.
    const [opened] = (await once(worker, 'message', { signal: deadline })) as [OpenedMail]
    return opened
  } catch (cause) {
    throw new Fault('too_large', 'Parsing the message takes too much time or memory.', { cause })
  } finally {
    await worker.terminate()
  }
}
