import { defineCommand } from '../command.ts'
import { SERVICE_FLAGS } from '../service-access.ts'

export const mailTestCommand = defineCommand({
  name: 'mail-test',
  summary: 'Show what receivers see in a mail that you send to a test address',
  description: [
    'It creates a test address at the service and prints it. Send a mail to it from the program or server that you want to test; with --wait, the findings follow.',
    'Without a connection to the service on port 25, test a file with --file.',
  ],
  flags: {
    wait: { summary: 'wait for the mail, and print its findings' },
    file: { value: 'FILE', completes: 'file', summary: 'test a mail from a file (.eml) instead' },
    domain: { value: 'DOMAIN', summary: 'domain that the test belongs to' },
    all: { summary: 'also print the checks that passed' },
    ...SERVICE_FLAGS,
  },
  examples: [
    { does: 'Create a test and wait for its mail', command: 'portreeve mail-test --wait' },
    { does: 'Test a saved mail', command: 'portreeve mail-test --file mail.eml' },
  ],
  exitCodes: {
    0: 'the address was created, or nothing blocks or hurts the mail',
    1: 'problems were found, or no mail came while the test was open',
  },
  async run({ flags, json }) {
    return (await import('./run-mail-test.ts')).runMailTest(flags, json)
  },
})
