import { parentPort, workerData } from 'node:worker_threads'
import { parseMail } from './report-mail-parts.ts'

/**
 * The thread in which `openMail` takes a large mail apart. It posts one `OpenedMail`; anything else
 * ends it.
 */
const opened = await parseMail(workerData as Uint8Array)
const buffers = new Set(opened.parts.map(({ bytes }) => bytes.buffer))
parentPort?.postMessage(opened, [...buffers])
