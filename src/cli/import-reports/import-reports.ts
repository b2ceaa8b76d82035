import { defineCommand } from '../command.ts'

export const importReportsCommand = defineCommand({
  name: 'import-reports',
  summary: 'Import DMARC and TLS reports from files, folders and mbox files',
  description: [
    'It reads DMARC aggregate reports and SMTP TLS reports: XML, JSON, gzip, zip, emails, mbox files, and folders of them (including Maildir). It works while the service runs and while it is stopped. Files can be imported again: a report that is already stored counts as a duplicate.',
  ],
  operands: [{ name: 'FILE', summary: 'files and folders', multiple: true, completes: 'file' }],
  flags: {
    email: {
      value: 'EMAIL',
      summary: 'import only reports for the domains of this account',
      defaultText: 'all accounts',
    },
  },
  examples: [
    {
      does: 'A folder with all reports in it',
      command: 'portreeve import-reports ~/Maildir/dmarc',
    },
  ],
  exitCodes: { 0: 'reports were imported', 1: 'no file was a report for a domain here' },
  async run({ operands, flags: { email }, json }) {
    return (await import('./import-files.ts')).importPaths(operands, email, json)
  },
})
