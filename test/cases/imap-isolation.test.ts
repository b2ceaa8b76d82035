import { migrateFake } from '../migration/isolation.ts'
import { runCases } from './run-cases.ts'
import type { FakeMailboxOptions } from '../servers/imap-mailbox-fake.ts'
import type { MigrateOptions } from '../../src/migration/engine/migration-options.ts'

type Account = Omit<FakeMailboxOptions, 'reserved' | 'body'> & { reserved?: string }
type Input = { source: Account; destination?: Account; options?: MigrateOptions }

const fakeOf = ({ reserved, ...account }: Account): FakeMailboxOptions => ({
  ...account,
  ...(reserved !== undefined && { reserved: new RegExp(reserved) }),
})

const run = async ({ source, destination = {}, options = {} }: Input) =>
  migrateFake(fakeOf(source), fakeOf(destination), options)

runCases('imap-isolation.json', run)
runCases('imap-servers.json', run)
