import { useQueryClient } from '@tanstack/react-query'
import { secretOf, wrongSecret } from '../imap/account.ts'
import { SecretField } from '../imap/secret-field.tsx'
import { FieldRow, Form } from '../ui/forms/form.tsx'
import { Muted, Stack } from '../ui/layout/page.tsx'
import { migrationQuery, migrations, type Migration } from './api.ts'

/** Before the names of the fields of each side. */
const SOURCE = 'source.'
const DESTINATION = 'destination.'

/** The passwords or tokens once more: they were erased when the migration ended. */
export function RetryForm({ migration }: { migration: Migration }) {
  const { migrationId: id, srcUser, srcHost, dstUser, dstHost } = migration
  const queries = useQueryClient()

  async function retry(values: Record<string, string>): Promise<void> {
    await migrations.retry(id, { source: secretOf(values, SOURCE), destination: secretOf(values, DESTINATION) })
    await queries.invalidateQueries({ queryKey: migrationQuery(id).queryKey })
    await queries.invalidateQueries({ queryKey: ['migrations'] })
  }

  return (
    <Stack>
      <p>
        <Muted>
          What is copied stays, and is not copied again. Passwords and tokens were erased when the migration ended, so
          they are asked for once more.
        </Muted>
      </p>
      <Form onSubmit={retry} check={missing} submit="Try again">
        <FieldRow>
          <SecretField prefix={SOURCE} named={(word) => `Source: ${word} of ${srcUser} on ${srcHost}`} />
          <SecretField prefix={DESTINATION} named={(word) => `Destination: ${word} of ${dstUser} on ${dstHost}`} />
        </FieldRow>
      </Form>
    </Stack>
  )
}

function missing(values: Record<string, string>): Record<string, string> {
  return { ...wrongSecret(values, SOURCE), ...wrongSecret(values, DESTINATION) }
}
