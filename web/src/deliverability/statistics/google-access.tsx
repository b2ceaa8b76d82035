import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ProviderSignIn } from '../../imap/provider-sign-in.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { Card, Stack } from '../../ui/layout/page.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { TextWithGuideLinks } from '../../ui/text/guide-links.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { postmasterQuery, statistics, type PostmasterAccess } from './api.ts'
import { google as messages } from './messages.ts'
import { ACCESS_TONES, RemoveAccess } from './provider-card.tsx'

/** The sign-in at Google, of which a workspace has one for all of its domains. */
export function GoogleAccess({ domain }: { domain: string }) {
  const { data } = useQuery(postmasterQuery)
  if (!data) return null
  const { access, isOffered, domains } = data
  const own = domains.find((each) => each.domain === domain)
  return (
    <Card>
      <Stack>
        <h3>{messages.title}</h3>
        {access === null ? <p>{messages.lead}</p> : <State access={access} />}
        {access !== null && own?.problem && (
          <Notice tone="unknown" title={messages.noAccess}>
            <p>{own.problem}</p>
          </Notice>
        )}
        {!isOffered && (
          <p>
            <TextWithGuideLinks text={messages.notOffered} />
          </p>
        )}
        {isOffered && access === null && <SignIn />}
        <p>
          <a href={messages.portalUrl} target="_blank" rel="noreferrer">
            {messages.portal}
          </a>
        </p>
        {access !== null && (
          <RemoveAccess messages={messages} remove={statistics.disconnectGoogle} />
        )}
      </Stack>
    </Card>
  )
}

function State({ access }: { access: NonNullable<PostmasterAccess['access']> }) {
  const { account, state, problem, fetchedAt, credentialId } = access
  return (
    <>
      <p>
        <Status tone={ACCESS_TONES[state]}>{messages.states[state]}</Status>{' '}
        {messages.account(account)}
      </p>
      <p>
        {fetchedAt === null ? (
          messages.never
        ) : (
          <>
            {messages.fetched} <Ago at={fetchedAt} />
          </>
        )}
      </p>
      {problem !== null && <Notice tone={state === 'ended' ? 'bad' : 'warn'}>{problem}</Notice>}
      {state === 'ended' && (
        <>
          <p>{messages.signInAgain}</p>
          <SignIn
            {...(credentialId !== null && {
              renews: { id: credentialId, provider: 'google', account },
            })}
          />
        </>
      )}
    </>
  )
}

type SignInProps = { renews?: { id: string; provider: 'google'; account: string } }

function SignIn({ renews }: SignInProps) {
  const { disabledReason } = useAccess()
  const queries = useQueryClient()
  const [problem, setProblem] = useState('')

  async function connect(credentialId: string): Promise<void> {
    setProblem('')
    try {
      await statistics.connectGoogle(credentialId)
      await queries.invalidateQueries({ queryKey: ['provider-statistics'] })
    } catch (error) {
      setProblem((error as Error).message)
    }
  }

  return (
    <>
      <ProviderSignIn
        purpose="postmaster"
        disabled={disabledReason !== undefined}
        {...(renews && { renews })}
        onGranted={({ id }) => void connect(id)}
      />
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </>
  )
}
