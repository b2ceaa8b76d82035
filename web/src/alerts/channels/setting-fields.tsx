import type { AlertChannelType } from '../api.ts'
import { SettingField } from './setting-field.tsx'

type SettingFieldsProps = {
  type: AlertChannelType
  /** Whether the required ones, or the optional ones. */
  required: boolean
  /** What may be shown of the saved settings; undefined for a new channel. */
  saved?: Record<string, string> | null
}

/** The fields for the settings of a service. */
export function SettingFields({ type, required, saved }: SettingFieldsProps) {
  const fields = type.fields.filter((field) => field.required === required)
  return (
    <>
      {fields.map((field) => (
        <SettingField key={field.name} type={type} field={field} saved={saved?.[field.name]} />
      ))}
    </>
  )
}
