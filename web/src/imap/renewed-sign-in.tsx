import { useQuery } from '@tanstack/react-query'
import { ButtonLink } from '../ui/actions/button.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { mailCredentialsQuery } from './credentials.ts'
import { provider as messages } from './messages.ts'
import { ProviderSignIn } from './provider-sign-in.tsx'

/** Renews the sign-in of a mailbox, after which it is read again. */
export function RenewedSignIn({ credentialId }: { credentialId: string | null }) {
  const access = useAccess()
  const { data = [] } = useQuery(mailCredentialsQuery)
  const credential = data.find(({ id }) => id === credentialId)
  if (!credential) return null
  if (credential.kind !== 'person')
    return <ButtonLink to="/migrations/sign-ins">{messages.correct}</ButtonLink>
  return (
    <ProviderSignIn
      renews={credential}
      disabled={access.disabledReason !== undefined}
      onGranted={() => {}}
    />
  )
}
