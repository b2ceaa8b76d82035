import { useQueryClient } from '@tanstack/react-query'
import { Form, FieldRow, PasswordField } from '../ui/form.tsx'
import { Soft, Stack } from '../ui/page.tsx'
import { migrationQuery, migrations, type Migration } from './api.ts'

/** The passwords once more: they were erased when the migration ended. */
export function RetryForm({ migration }: { migration: Migration }) {
  const { migrationId: id, srcUser, srcHost, dstUser, dstHost } = migration
  const queries = useQueryClient()

  async function retry({ source = '', destination = '' }: Record<string, string>): Promise<void> {
    await migrations.retry(id, { source: { password: source }, destination: { password: destination } })
    await queries.invalidateQueries({ queryKey: migrationQuery(id).queryKey })
    await queries.invalidateQueries({ queryKey: ['migrations'] })
  }

  return (
    <Stack>
      <p>
        <Soft>
          What is copied stays, and is not copied again. The passwords were erased when the migration ended, so they are
          asked for once more.
        </Soft>
      </p>
      <Form onSubmit={retry} check={missing} submit="Try again">
        <FieldRow>
          <PasswordField name="source" label={`Source: password of ${srcUser} on ${srcHost}`} autoComplete="off" />
          <PasswordField
            name="destination"
            label={`Destination: password of ${dstUser} on ${dstHost}`}
            autoComplete="off"
          />
        </FieldRow>
      </Form>
    </Stack>
  )
}

function missing({ source, destination }: Record<string, string>): Record<string, string> {
  return {
    ...(!source && { source: 'Type the password.' }),
    ...(!destination && { destination: 'Type the password.' }),
  }
}
