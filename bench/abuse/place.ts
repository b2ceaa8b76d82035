import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Pool } from 'pg'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { startEmbedded } from '../../src/store/embedded.ts'
import { migrate } from '../../src/store/migrate-schema.ts'

/** Opens a migrated database on a server of its own; `undo` removes both. */
export async function openBenchDatabase(
  undo: AsyncDisposableStack,
): Promise<{ databaseUrl: string; pool: Pool }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'portreeve-bench-'))
  undo.defer(() => rmSync(dataDir, { recursive: true }))
  const embedded = await startEmbedded({ dataDir, log: createLog('error') })
  undo.defer(() => embedded.stop())
  const { pool, close } = openDatabase(embedded.url)
  undo.defer(close)
  await migrate(pool)
  return { databaseUrl: embedded.url, pool }
}

/**
 * Starts attack reporting in a process of its own.
 * @param role `work` to publish the list as well
 */
export async function startServer(
  databaseUrl: string,
  role?: 'work',
): Promise<{ child: ChildProcess; url: string }> {
  const words = [join(import.meta.dirname, 'server.ts'), databaseUrl, ...(role ? [role] : [])]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { child, url }
}

export async function stopServer(child: ChildProcess): Promise<void> {
  child.kill()
  await once(child, 'exit')
}
