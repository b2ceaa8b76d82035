import { messageOf } from '../../src/errors.ts'
import { createLog } from '../../src/log.ts'
import { startEmbedded } from '../../src/store/embedded.ts'

/**
 * A service with only a database, which a test kills. It prints the result of its start in one
 * line.
 */
try {
  const { url, pid } = await startEmbedded({
    dataDir: process.argv[2] ?? '',
    log: createLog('silent'),
  })
  console.log(JSON.stringify({ url, pid }))
  setInterval(() => {}, 60_000)
} catch (error) {
  console.log(JSON.stringify({ error: messageOf(error) }))
}
