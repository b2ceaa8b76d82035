import { createLog } from '../../src/log.ts'
import { openFileJournal } from '../../src/migration/file-journal.ts'
import { migrateMailbox } from '../../src/migration/migrate.ts'
import { accountOn } from './mailbox.ts'

/** A migration in a process of its own, which somebody will kill. Writes a line when it begins to copy. */
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
