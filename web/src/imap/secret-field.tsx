import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { PasswordField } from '../ui/forms/form.tsx'
import { Stack } from '../ui/layout/page.tsx'
import type { Secret } from './account.ts'

type SecretFieldProps = {
  /** The name of a field where there are several, of what it takes. */
  named?: (word: string) => string
  prefix?: string
  initial?: Secret | null | undefined
}

const HINT =
  'For servers that take OAuth (XOAUTH2), such as Gmail and Microsoft 365. Most tokens hold for an hour. Should one expire on the way, what is copied stays: try again with a new one.'

/** What opens an account: its password, or an OAuth access token in its place. */
export function SecretField({ named = capital, prefix = '', initial }: SecretFieldProps) {
  const [kind, setKind] = useState({ isToken: Boolean(initial && 'accessToken' in initial), isChosen: false })
  return (
    <Stack>
      {kind.isToken ? (
        <PasswordField
          key="token"
          name={`${prefix}accessToken`}
          label={named('access token')}
          hint={HINT}
          defaultValue={initial && 'accessToken' in initial ? initial.accessToken : ''}
          autoComplete="off"
          autoFocus={kind.isChosen}
        />
      ) : (
        <PasswordField
          key="password"
          name={`${prefix}password`}
          label={named('password')}
          defaultValue={initial && 'password' in initial ? initial.password : ''}
          autoComplete="new-password"
          autoFocus={kind.isChosen}
        />
      )}
      <div>
        <Button kind="quiet" size="small" onClick={() => setKind({ isToken: !kind.isToken, isChosen: true })}>
          {kind.isToken ? 'Use the password instead' : 'Use an access token instead'}
        </Button>
      </div>
    </Stack>
  )
}

function capital(word: string): string {
  return word.replace(/^./, (letter) => letter.toUpperCase())
}
