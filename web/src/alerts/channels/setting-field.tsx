import {
  AreaField,
  CheckField,
  PasswordField,
  SelectField,
  TextField,
} from '../../ui/forms/form.tsx'
import type { AlertChannelType, ChannelField } from '../api.ts'
import { field as messages } from './messages.ts'
import { fieldName, removalName } from './setting-values.ts'

type SettingFieldProps = {
  type: AlertChannelType
  field: ChannelField
  /** What may be shown of the saved value; undefined for a new channel. */
  saved?: string | undefined
}

/** The field for one setting of a service, as the API describes it. */
export function SettingField({ type, field, saved }: SettingFieldProps) {
  const { label, placeholder, default: usual, choices, secret, multiline } = field
  const name = fieldName(type, field)
  const hint = [secret ? savedHint(saved) : null, field.help].filter(Boolean).join(' ')
  const value = secret ? undefined : (saved ?? usual ?? undefined)
  const common = {
    name,
    label,
    ...(hint !== '' && { hint }),
    ...(value !== undefined && { defaultValue: value }),
  }
  const shared = { ...common, spellCheck: false, ...(placeholder !== null && { placeholder }) }
  if (choices)
    return (
      <SelectField {...common} choices={choices.map((each) => ({ value: each, label: each }))} />
    )
  // A value that is saved in part only is never filled in: the browser must not store it either.
  if (secret) return <SecretField field={field} isSaved={saved !== undefined} {...shared} />
  if (multiline) return <AreaField {...shared} />
  return <TextField {...shared} />
}

type SecretFieldProps = Parameters<typeof PasswordField>[0] & {
  field: ChannelField
  isSaved: boolean
}

function SecretField({ field, isSaved, ...rest }: SecretFieldProps) {
  return (
    <>
      <PasswordField {...rest} autoComplete="new-password" />
      {isSaved && !field.required && (
        <CheckField name={removalName(field)} label={messages.remove(field)} />
      )}
    </>
  )
}

function savedHint(saved: string | undefined): string | null {
  if (saved === undefined) return null
  return saved === '…' ? messages.savedHidden : messages.saved(saved)
}
