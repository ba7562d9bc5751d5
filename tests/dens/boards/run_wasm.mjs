// Runs one program on MicroPython for WebAssembly: node run_wasm.mjs PACKAGE_FOLDER MAIN HOST_FILE=BOARD_PATH …
// The exit code is 1 after an exception, which the port's own command line does not tell.
import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';
const [folder, main, ...files] = process.argv.slice(2);
const {loadMicroPython} = await import(pathToFileURL(folder + '/micropython.mjs'));
const mp = await loadMicroPython({
  heapsize: 1 << 20, linebuffer: true, stdout: line => process.stdout.write(line + '\n')});
for (const file of files) {
  const [source, target] = file.split('=');
  let parent = '';
  for (const part of target.split('/').slice(1, -1)) {
    parent += '/' + part;
    try { mp.FS.mkdir(parent); } catch { /* it is there */ }
  }
  mp.FS.writeFile(target, readFileSync(source));
}
try {
  mp.runPython(readFileSync(main, 'utf8'));
} catch (error) {
  console.log('EXCEPTION', error.type, error.message);
  process.exitCode = 1;
}
