import { createLog } from '../../src/log.ts'
import { openFileJournal } from '../../src/migration/engine/journal/file-journal.ts'
import { migrateMailbox } from '../../src/migration/engine/migrate.ts'
import { accountOn } from './mailbox.ts'

/**
 * A migration in a process of its own, which a test may kill. It prints its progress and finally
 * its peak memory in megabytes.
 */
const [from = '', to = '', user = '', path = ''] = process.argv.slice(2)

await migrateMailbox({
  source: { account: accountOn(Number(from)) },
  destination: { account: accountOn(Number(to), user) },
  folders: 'all',
  journal: openFileJournal(path),
  signal: new AbortController().signal,
  log: createLog('silent'),
  onProgress: ({ messagesDone }) => console.log(messagesDone),
})
console.log(Math.round(process.resourceUsage().maxRSS / 1024))
