import { useQuery } from '@tanstack/react-query'
import { mailCredentialsQuery } from '../imap/credentials.ts'
import { ProviderSignIn } from '../imap/provider-sign-in.tsx'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Section } from '../ui/layout/page.tsx'
import { useAccess } from '../workspaces/roles.ts'
import type { Migration } from './api.ts'
import { consent as messages } from './messages.ts'

/** Lets a person sign in again at the providers of both sides, as far as that is needed. */
export function ConsentSection({ migration }: { migration: Migration }) {
  const access = useAccess()
  const { data = [] } = useQuery(mailCredentialsQuery)
  const sides = [
    { id: migration.srcSignIn.credentialId, title: messages.source },
    { id: migration.dstSignIn.credentialId, title: messages.destination },
  ]
  const isEnded = ({ id }: { id: string | null }) =>
    data.some((each) => each.id === id && each.state === 'consent_needed')
  if (!sides.some(isEnded)) return null
  return (
    <Section title={messages.title}>
      {sides.map(({ id, title }) => {
        const credential = data.find((each) => each.id === id)
        if (credential?.state !== 'consent_needed') return null
        return (
          <div key={title('')}>
            <Notice tone="warn" title={title(credential.account)}>
              {credential.problem}
            </Notice>
            {credential.kind === 'person' ? (
              <ProviderSignIn
                renews={credential}
                disabled={access.disabledReason !== undefined}
                onGranted={() => {}}
              />
            ) : (
              <ButtonLink to="/migrations/sign-ins">{messages.correct}</ButtonLink>
            )}
          </div>
        )
      })}
    </Section>
  )
}
