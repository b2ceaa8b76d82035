import { open, unlink, type FileHandle } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGunzip, createGzip } from 'node:zlib'
import { Fault } from '../../errors.ts'
import { createSlots } from '../../net/slots.ts'
import { makeFolder } from '../../store/file.ts'
import { HOUR_MS, MINUTE_MS } from '../../time.ts'

/** Time limit for reading all rows of an account, in one transaction. */
const SPOOL_DEADLINE_MS = 5 * MINUTE_MS

/** Time limit for a client to download its export, which takes disk space meanwhile. */
const DOWNLOAD_DEADLINE_MS = HOUR_MS

/**
 * Compressed size of one export, and of all exports of this instance that are not downloaded yet.
 */
const MAX_EXPORT_BYTES = 4 * 1024 ** 3
const MAX_TOTAL_EXPORT_BYTES = 8 * 1024 ** 3

/** Exports that read from the database at once; each holds a connection. */
const MAX_CONCURRENT_SPOOLS = 2

/** How long an export waits for one of those slots. */
const SPOOL_QUEUE_MS = 20_000

export type ExportFiles = {
  /**
   * Writes lines into a temporary file and returns the complete file. A slow download therefore
   * holds no database connection.
   * @param gone aborts when the client has disconnected
   * @throws Fault `unavailable` with too many exports or after the time limit, `too_large`
   */
  spool(lines: (signal: AbortSignal) => AsyncIterable<string>, gone: AbortSignal): Promise<Readable>
}

/** @param folder holds the temporary files, which are unlinked as soon as they are open */
export function createExportFiles(folder: string): ExportFiles {
  const slots = createSlots(MAX_CONCURRENT_SPOOLS)
  let bytes = 0

  async function write(
    file: FileHandle,
    lines: ReturnType<Parameters<ExportFiles['spool']>[0]>,
    signal: AbortSignal,
  ) {
    let written = 0
    async function append(pieces: AsyncIterable<Buffer>): Promise<void> {
      for await (const piece of pieces) {
        written += piece.length
        bytes += piece.length
        if (written > MAX_EXPORT_BYTES) throw tooLarge()
        if (bytes > MAX_TOTAL_EXPORT_BYTES) throw busy()
        await file.appendFile(piece)
      }
    }
    try {
      await pipeline(Readable.from(lines), createGzip({ level: constants.Z_BEST_SPEED }), append, {
        signal,
      })
    } catch (error) {
      bytes -= written
      throw error
    }
    return written
  }

  return {
    async spool(lines, gone) {
      if (!(await slots.acquire([gone, AbortSignal.timeout(SPOOL_QUEUE_MS)]))) throw busy()
      let file: FileHandle | undefined
      let written = 0
      const deadline = AbortSignal.timeout(SPOOL_DEADLINE_MS)
      const signal = AbortSignal.any([deadline, gone])
      try {
        file = await openUnnamed(folder)
        written = await write(file, lines(signal), signal)
      } catch (error) {
        await file?.close()
        throw signal.aborted ? tooSlow(error) : error
      } finally {
        slots.release()
      }
      return readOnce(file, () => (bytes -= written))
    },
  }
}

/** Opens a file and unlinks it, so that it disappears with the process, also after a crash. */
async function openUnnamed(folder: string): Promise<FileHandle> {
  makeFolder(folder, 0o700)
  const path = join(folder, randomUUID())
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

function readOnce(file: FileHandle, onClosed: () => void): Readable {
  const source = file.createReadStream({ start: 0 })
  source.once('close', onClosed)
  const plain = createGunzip()
  source.on('error', (error) => plain.destroy(error))
  const deadline = setTimeout(
    () => plain.destroy(new Error('the export was not downloaded in time')),
    DOWNLOAD_DEADLINE_MS,
  )
  deadline.unref()
  plain.once('close', () => {
    clearTimeout(deadline)
    source.destroy()
  })
  return source.pipe(plain)
}

const busy = () =>
  new Fault(
    'unavailable',
    'Too many exports are being created at the moment. Try again in a minute.',
    {
      retryAfter: 60,
    },
  )

const tooSlow = (cause: unknown) =>
  new Fault('unavailable', 'The export was not ready within 5 minutes. Try again later.', {
    retryAfter: 600,
    cause,
  })

const tooLarge = () =>
  new Fault(
    'too_large',
    'The export exceeds 4 GiB. Delete captured requests or reports, then try again.',
  )
