// Frames of a camera: opened when asked for, closed when done.

const LONGEST = 640;
const canvas = document.createElement("canvas");

/** Whether this browser, at this address, may use a camera: only over HTTPS, or on this machine. */
export function cameraIsPossible() {
  return Boolean(navigator.mediaDevices?.getUserMedia);
}

/** Show a camera in a video element; resolves to a function that closes it. */
export async function openCamera(video, deviceId = "") {
  const wanted = deviceId ? { deviceId: { exact: deviceId } } : { facingMode: "environment" };
  const stream = await navigator.mediaDevices.getUserMedia({ video: { ...wanted, width: { ideal: 1280 } }, audio: false });
  video.srcObject = stream;
  await video.play();
  return () => {
    stream.getTracks().forEach((track) => track.stop());
    video.srcObject = null;
  };
}

/** The cameras there are; their names are known once one of them is open. */
export async function cameras() {
  return (await navigator.mediaDevices.enumerateDevices()).filter(({ kind }) => kind === "videoinput");
}

/** What the camera sees now, as a file. */
export async function frame(video) {
  const scale = Math.min(1, LONGEST / Math.max(video.videoWidth, video.videoHeight));
  canvas.width = Math.round(video.videoWidth * scale);
  canvas.height = Math.round(video.videoHeight * scale);
  canvas.getContext("2d").drawImage(video, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.92));
  return new File([blob], `camera-${new Date().toISOString().replace(/[:.]/g, "-")}.jpg`, { type: "image/jpeg" });
}

/** In words, why a camera could not be opened. */
export function cameraProblem(error) {
  const reasons = {
    NotAllowedError: "The browser may not use the camera. Allow it beside the address, then try again.",
    NotFoundError: "There is no camera. Plug one in, or choose images instead.",
    NotReadableError: "Another program holds the camera. Close it, then try again.",
  };
  return reasons[error.name] ?? `The camera could not be opened: ${error.message}`;
}
