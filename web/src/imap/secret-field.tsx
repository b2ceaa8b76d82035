import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { PasswordField } from '../ui/forms/form.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Muted, Row, Stack } from '../ui/layout/page.tsx'
import type { LaterSecret, Secret } from './account.ts'
import { mailCredentialsQuery, type MailCredential, type MailProvider } from './credentials.ts'
import {
  owner as ownerMessages,
  provider as providerMessages,
  secret as messages,
} from './messages.ts'
import { ProviderSignIn } from './provider-sign-in.tsx'
import { StoredSignIns } from './stored-sign-ins.tsx'

type SecretFieldProps = {
  /** The label of a field where there are several. */
  labelOf?: (secret: string) => string
  prefix?: string
  initial?: Secret | LaterSecret | null | undefined
  /** The user name that was entered so far. */
  user?: () => string
  /** Whether an access token can be entered, which expires. */
  takesTokens?: boolean
  /** Whether the owner of the mailbox can sign in later. */
  offersOwner?: boolean
  /** Called when a person has signed in at the provider. */
  onGranted?: (credential: MailCredential, provider: Pick<MailProvider, 'hosts'>) => void
}

/** The password of an account, or instead an OAuth access token or a sign-in at the provider. */
export function SecretField({
  prefix = '',
  initial,
  user,
  onGranted,
  offersOwner = false,
  ...rest
}: SecretFieldProps) {
  const [isOwners, setOwners] = useState(Boolean(initial && 'owner' in initial))
  const known = initial && 'credentialId' in initial ? initial.credentialId : null
  const [credentialId, setCredentialId] = useState(known)
  const { data } = useQuery({ ...mailCredentialsQuery, enabled: credentialId !== null })
  const credential = data?.find(({ id }) => id === credentialId)
  // An earlier sign-in may have been deleted meanwhile; a new one may not be in the list yet.
  const isDeleted = data !== undefined && !credential && credentialId === known
  if (isOwners) return <OwnerSignsIn prefix={prefix} onOther={() => setOwners(false)} />
  if (credentialId !== null && !isDeleted)
    return (
      <SignedIn
        name={`${prefix}credentialId`}
        id={credentialId}
        credential={credential}
        onOther={() => setCredentialId(null)}
      />
    )
  return (
    <Stack>
      <TypedSecret prefix={prefix} initial={initial} {...rest} />
      <ProviderSignIn
        {...(user && { user })}
        onGranted={(granted, provider) => {
          setCredentialId(granted.id)
          onGranted?.(granted, provider)
        }}
      />
      {onGranted && (
        <StoredSignIns
          onUse={(stored, provider) => {
            setCredentialId(stored.id)
            // Its account is not the one of the mailbox.
            onGranted({ ...stored, account: '' }, provider)
          }}
        />
      )}
      {offersOwner && (
        <div>
          <Button size="small" onClick={() => setOwners(true)}>
            {ownerMessages.choose}
          </Button>
        </div>
      )}
    </Stack>
  )
}

/** The owner of the mailbox signs in by a link, after the migration was created. */
function OwnerSignsIn({ prefix, onOther }: { prefix: string; onOther: () => void }) {
  return (
    <Stack>
      <Row>
        <Status tone="info">{ownerMessages.chosen}</Status>
        <Button kind="quiet" size="small" onClick={onOther}>
          {messages.usePassword}
        </Button>
      </Row>
      <Muted>{ownerMessages.hint}</Muted>
      <input type="hidden" name={`${prefix}owner`} value="on" />
    </Stack>
  )
}

type SignedInProps = {
  name: string
  id: string
  credential: MailCredential | undefined
  onOther: () => void
}

/** A sign-in at the provider, which the form sends in place of a password. */
function SignedIn({ name, id, credential, onOther }: SignedInProps) {
  const isEnded = credential?.state === 'consent_needed'
  return (
    <Stack>
      <Row>
        <Status tone={isEnded ? 'warn' : 'good'}>
          {isEnded ? endedText(credential) : providerMessages.signedIn(credential?.account)}
        </Status>
        <Button kind="quiet" size="small" onClick={onOther}>
          {messages.usePassword}
        </Button>
      </Row>
      <input type="hidden" name={name} value={id} />
      {isEnded && credential.kind === 'person' && (
        <ProviderSignIn renews={credential} onGranted={() => {}} />
      )}
    </Stack>
  )
}

function endedText({ kind, problem }: MailCredential): string {
  return kind === 'person' ? providerMessages.ended : (problem ?? providerMessages.ended)
}

/** A password or an access token. */
function TypedSecret({
  labelOf = (secret) => secret,
  prefix = '',
  initial,
  takesTokens = true,
}: Pick<SecretFieldProps, 'labelOf' | 'prefix' | 'initial' | 'takesTokens'>) {
  const [kind, setKind] = useState({
    isToken: Boolean(initial && 'accessToken' in initial),
    isChosen: false,
  })
  return (
    <Stack>
      {kind.isToken ? (
        <PasswordField
          key="token"
          name={`${prefix}accessToken`}
          label={labelOf(messages.accessToken)}
          hint={messages.tokenHint}
          defaultValue={initial && 'accessToken' in initial ? initial.accessToken : ''}
          autoComplete="off"
          autoFocus={kind.isChosen}
        />
      ) : (
        <PasswordField
          key="password"
          name={`${prefix}password`}
          label={labelOf(messages.password)}
          defaultValue={initial && 'password' in initial ? initial.password : ''}
          autoComplete="new-password"
          autoFocus={kind.isChosen}
        />
      )}
      {takesTokens && (
        <div>
          <Button
            kind="quiet"
            size="small"
            onClick={() => setKind({ isToken: !kind.isToken, isChosen: true })}
          >
            {kind.isToken ? messages.usePassword : messages.useToken}
          </Button>
        </div>
      )}
    </Stack>
  )
}
