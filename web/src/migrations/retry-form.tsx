import { useQueryClient } from '@tanstack/react-query'
import { secretOf, wrongSecret } from '../imap/account.ts'
import { SecretField } from '../imap/secret-field.tsx'
import { FieldRow, Form } from '../ui/forms/form.tsx'
import { Muted, Stack } from '../ui/layout/page.tsx'
import { migrationQuery, migrations, type Migration } from './api.ts'
import { retry as messages } from './messages.ts'
import { useAccess } from '../workspaces/roles.ts'

/** Prefixes of the field names of each side. */
const SOURCE = 'source.'
const DESTINATION = 'destination.'

/** Asks for the passwords or tokens again: they were deleted when the migration ended. */
export function RetryForm({ migration }: { migration: Migration }) {
  const access = useAccess()
  const { migrationId: id, srcUser, srcHost, srcSignIn, dstUser, dstHost, dstSignIn } = migration
  const queries = useQueryClient()

  async function retry(values: Record<string, string>): Promise<void> {
    await migrations.retry(id, {
      source: secretOf(values, SOURCE),
      destination: secretOf(values, DESTINATION),
    })
    await queries.invalidateQueries({ queryKey: migrationQuery(id).queryKey })
    await queries.invalidateQueries({ queryKey: ['migrations'] })
  }

  return (
    <Stack>
      <p>
        <Muted>{messages.text}</Muted>
      </p>
      <Form {...access} onSubmit={retry} check={missing} submit={messages.submit}>
        <FieldRow>
          <SecretField
            prefix={SOURCE}
            initial={srcSignIn.credentialId ? { credentialId: srcSignIn.credentialId } : null}
            labelOf={(secret) =>
              messages.source(secret.toLowerCase(), srcSignIn.administrator ?? srcUser, srcHost)
            }
          />
          <SecretField
            prefix={DESTINATION}
            initial={dstSignIn.credentialId ? { credentialId: dstSignIn.credentialId } : null}
            labelOf={(secret) =>
              messages.destination(
                secret.toLowerCase(),
                dstSignIn.administrator ?? dstUser,
                dstHost,
              )
            }
          />
        </FieldRow>
      </Form>
    </Stack>
  )
}

function missing(values: Record<string, string>): Record<string, string> {
  return { ...wrongSecret(values, SOURCE), ...wrongSecret(values, DESTINATION) }
}
