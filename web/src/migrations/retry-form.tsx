import { useQueryClient } from '@tanstack/react-query'
import { secretOrOwnerOf, wrongSecret } from '../imap/account.ts'
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
      source: secretOrOwnerOf(values, SOURCE),
      destination: secretOrOwnerOf(values, DESTINATION),
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
            offersOwner
            prefix={SOURCE}
            initial={initialOf(srcSignIn)}
            labelOf={(secret) =>
              messages.source(secret.toLowerCase(), srcSignIn.administrator ?? srcUser, srcHost)
            }
          />
          <SecretField
            offersOwner
            prefix={DESTINATION}
            initial={initialOf(dstSignIn)}
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

/** What was used before. An owner signs in again, because only the owner knows the secret. */
function initialOf({ byOwner, waitsForOwner, credentialId }: Migration['srcSignIn']) {
  if (byOwner || waitsForOwner) return { owner: true as const }
  return credentialId === null ? null : { credentialId }
}

function missing(values: Record<string, string>): Record<string, string> {
  return { ...wrongSecret(values, SOURCE), ...wrongSecret(values, DESTINATION) }
}
