import { Explained, type Described } from './explained.tsx'
import { VisuallyHidden } from '../text/visually-hidden.tsx'
import classes from './switch.module.css'

type SwitchProps = {
  /** What is on or off. */
  label: string
  /** The object of the label, for screen readers. */
  about?: string
  checked: boolean
  disabledReason?: string | undefined
  onChange: (isOn: boolean) => void
}

/** On or off, at once. */
export function Switch({ disabledReason, ...rest }: SwitchProps) {
  if (!disabledReason) return <Control {...rest} />
  return (
    <Explained reason={disabledReason}>
      {(described) => <Control {...rest} described={described} onChange={() => {}} />}
    </Explained>
  )
}

function Control({
  label,
  about,
  checked,
  described,
  onChange,
}: Omit<SwitchProps, 'disabledReason'> & { described?: Described }) {
  return (
    <label className={classes.switch} data-disabled={described !== undefined}>
      <input
        type="checkbox"
        role="switch"
        checked={checked}
        onChange={(event) => onChange(event.currentTarget.checked)}
        {...described}
      />
      <span>
        {label} {about && <VisuallyHidden>{about}</VisuallyHidden>}
      </span>
    </label>
  )
}
