import { TextInput } from '@mantine/core'
import { Button } from './button.tsx'
import classes from './search-field.module.css'

type SearchFieldProps = {
  name: string
  label: string
  submit: string
  placeholder: string
  defaultValue: string
  autoFocus: boolean
  error: string
}

/** An input with its button, for the one thing a screen is there to ask. */
export function SearchField({ label, submit, error, ...rest }: SearchFieldProps) {
  return (
    <TextInput
      size="lg"
      label={label}
      error={error || undefined}
      classNames={classes}
      autoCapitalize="none"
      autoComplete="off"
      autoCorrect="off"
      spellCheck={false}
      inputMode="url"
      inputContainer={(input) => (
        <div className={classes.line}>
          {input}
          <Button kind="primary" size="large" type="submit">
            {submit}
          </Button>
        </div>
      )}
      {...rest}
    />
  )
}
