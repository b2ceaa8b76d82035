import { backupCommand, restoreCommand } from './backup/backup-command.ts'
import { checkCommand } from './check/check-command.ts'
import { defineGroup, type CliCommand } from './command.ts'
import { completionCommand } from './completion/completion.ts'
import { cutoverCommand } from './cutover/cutover.ts'
import { databaseCommand } from './database/database-command.ts'
import { doctorCommand } from './doctor/doctor.ts'
import { exportCommand } from './files/export.ts'
import { importCommand } from './files/import-command.ts'
import { healthCommand } from './health/health-command.ts'
import { helpCommand } from './help/help.ts'
import { importReportsCommand } from './import-reports/import-reports.ts'
import { imapsyncCommand } from './imapsync/imapsync.ts'
import { listenCommand } from './listen/listen-command.ts'
import { mailTestCommand } from './mail-test/mail-test-command.ts'
import { migrateCommand } from './migrate/migrate-command.ts'
import { peerCommand } from './peer/peer.ts'
import { problemsCommand } from './problems/problems-command.ts'
import { serveCommand } from './serve/serve.ts'
import { tokenCommand } from './token/token-command.ts'
import { userCommand } from './user/user-command.ts'
import { verifyProofCommand } from './verify-proof/verify-proof.ts'
import { versionCommand } from './version-command.ts'
import { workspaceCommand } from './workspace/workspace.ts'

/**
 * Every command, in the order of the help. Parser, help, completions and man page follow from it.
 * To add one, copy `token/` or `version-command.ts` and add its line here.
 */
export const ROOT: CliCommand = defineGroup({
  name: 'portreeve',
  summary: 'Checks, reports, migrations and webhooks for people who run mail and servers',
  examples: [
    { does: 'Run the service on http://localhost:8080', command: 'portreeve serve' },
    {
      does: 'Check the email authentication of a domain',
      command: 'portreeve check dmarc example.com',
    },
    {
      does: 'Find problems of this installation, with their fixes',
      command: 'portreeve doctor',
    },
  ],
  subcommands: [
    serveCommand,
    checkCommand,
    mailTestCommand,
    problemsCommand,
    migrateCommand,
    cutoverCommand,
    verifyProofCommand,
    importCommand,
    exportCommand,
    imapsyncCommand,
    userCommand,
    workspaceCommand,
    tokenCommand,
    peerCommand,
    listenCommand,
    importReportsCommand,
    backupCommand,
    restoreCommand,
    databaseCommand,
    healthCommand,
    doctorCommand,
    completionCommand(() => ROOT),
    helpCommand(() => ROOT),
    versionCommand,
  ],
})
