import classes from './shortcut.module.css'

/** Keys to press, one after the other: `g h`. */
export function Shortcut({ keys }: { keys: string }) {
  return (
    <span className={classes.keys}>
      {keys.split(' ').map((key, at) => (
        <kbd key={at}>{key}</kbd>
      ))}
    </span>
  )
}

/** How the key that goes with another is called here. */
export const MODIFIER_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl'
