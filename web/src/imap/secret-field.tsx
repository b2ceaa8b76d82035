import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { PasswordField } from '../ui/forms/form.tsx'
import { Stack } from '../ui/layout/page.tsx'
import type { Secret } from './account.ts'
import { secret as messages } from './messages.ts'

type SecretFieldProps = {
  /** The label of a field where there are several. */
  labelOf?: (secret: string) => string
  prefix?: string
  initial?: Secret | null | undefined
}

/** The password of an account, or an OAuth access token instead. */
export function SecretField({
  labelOf = (secret) => secret,
  prefix = '',
  initial,
}: SecretFieldProps) {
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
      <div>
        <Button
          kind="quiet"
          size="small"
          onClick={() => setKind({ isToken: !kind.isToken, isChosen: true })}
        >
          {kind.isToken ? messages.usePassword : messages.useToken}
        </Button>
      </div>
    </Stack>
  )
}
