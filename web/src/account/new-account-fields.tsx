import { PasswordField, TextField } from '../ui/forms/form.tsx'
import { fields } from './messages.ts'

const MIN_PASSWORD_LENGTH = 10

type NewAccountFieldsProps = {
  name: { label: string; hint?: string }
  autoFocus?: boolean
}

/** Name, email and password of a person who creates an account. */
export function NewAccountFields({ name, autoFocus = false }: NewAccountFieldsProps) {
  return (
    <>
      <TextField name="name" {...name} autoComplete="name" maxLength={200} autoFocus={autoFocus} />
      <TextField
        name="email"
        label={fields.email}
        type="email"
        autoComplete="username"
        spellCheck={false}
      />
      <PasswordField
        name="password"
        label={fields.password}
        hint={fields.passwordHint}
        autoComplete="new-password"
      />
    </>
  )
}

/** The problems of the fields, by name. */
export function checkNewAccount({
  email = '',
  password = '',
}: Record<string, string>): Record<string, string> {
  return {
    ...(!/^[^\s@]+@[^\s@]+$/.test(email.trim()) && { email: fields.enterEmail }),
    ...(password.length < MIN_PASSWORD_LENGTH && {
      password: fields.minLength(MIN_PASSWORD_LENGTH),
    }),
  }
}
